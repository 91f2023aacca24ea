export { checkPolicy, type PolicyCheck, type PolicyCheckContext } from './check-policy.ts';
export { checkToolPolicy, type ToolPolicyCheck } from './check-tool-policy.ts';
export { ManualClock } from './clock/manual-clock.ts';
export { ContractBroken } from './contracts/contract-broken.ts';
export type { ContractCase } from './contracts/contract-case.ts';
export { type DatabaseContract, databaseContract } from './contracts/database-contract.ts';
export { type EmbedderContract, embedderContract } from './contracts/embedder-contract.ts';
export {
  type ModelContract,
  type ModelUnderTest,
  modelContract,
  type ProviderAct,
  type ProviderAnswer,
} from './contracts/model-contract.ts';
export { type ToolContract, toolContract } from './contracts/tool-contract.ts';
export {
  type Fault,
  type FaultKind,
  FaultPlan,
  type FaultPlanOptions,
  type Passage,
  SimulatedCrash,
} from './faults/fault-plan.ts';
export { readFaults, writeFaults } from './faults/fault-text.ts';
export type { HarnessStart } from './harness/harness-process.ts';
export type { BrokenPromise } from './harness/read-broken-promises.ts';
export {
  openSessionHarness,
  type ProcessOfHarness,
  type SessionHarness,
  type SessionHarnessOptions,
} from './harness/session-harness.ts';
export { PROMISE_NAMES } from './invariants/promise-names.ts';
export type { TimelineEntry } from './play/timeline.ts';
export type { PlayedPolicy } from './report/played-policy.ts';
export type { PlayedTool, PlayedTools } from './report/played-tools.ts';
export type { CheckReport, PolicyReport, ToolPolicyFailure, ToolPolicyReport } from './report/tool-policy-report.ts';
export type {
  Invariants,
  PolicyFacts,
  ProcessUnderTest,
  Seen,
  SeenExecution,
  Truth,
  UnknownCall,
} from './subject.ts';
export { type LedgerReading, ledgerInvariants } from './world/ledger-invariants.ts';
export { type WorldAct, WorldLedger } from './world/world-ledger.ts';
