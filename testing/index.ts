export { checkPolicy, type PolicyCheck, type PolicyCheckContext } from './check-policy.ts';
export { checkToolPolicy, type ToolPolicyCheck } from './check-tool-policy.ts';
export { ManualClock } from './clock/manual-clock.ts';
export { ContractBroken } from './contracts/contract-broken.ts';
export type { ContractCase } from './contracts/contract-case.ts';
export { type EmbedderContract, embedderContract } from './contracts/embedder-contract.ts';
export {
  type ModelContract,
  type ModelUnderTest,
  modelContract,
  type ProviderAct,
  type ProviderAnswer,
} from './contracts/model-contract.ts';
export {
  type Fault,
  type FaultKind,
  FaultPlan,
  type FaultPlanOptions,
  type Passage,
  SimulatedCrash,
} from './faults/fault-plan.ts';
export type { TimelineEntry } from './play/timeline.ts';
export type { ToolPolicyFailure, ToolPolicyReport } from './report/tool-policy-report.ts';
export type {
  Invariants,
  PolicyFacts,
  ProcessUnderTest,
  Seen,
  SeenExecution,
  Truth,
  UnknownCall,
} from './subject.ts';
