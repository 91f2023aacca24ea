/**
 * The machines of Turnlock: pure, without a database. A session's legal life as an XState machine, the graph that the database
 * enforces as well, and what a snapshot owes. For programs that read sessions, draw them, or replay their transitions.
 */

export type {
  CallContent,
  FailureContent,
  Json,
  ModelCallContent,
  ModelTurnContent,
  Normalised,
  OutcomeContent,
  TokenUsage,
  TurnPart,
  UserTurnContent,
} from './event-content.ts';
export {
  EFFECT_CLASSES,
  type EffectClass,
  EXECUTION_STATUSES,
  type ExecutionStatus,
  isSettled,
  UNKNOWN_REASONS,
  type UnknownReason,
} from './execution-status.ts';
export {
  beginFold,
  endFold,
  type Fold,
  type FoldCode,
  type FoldedTransition,
  type FoldFinding,
  type FoldLoss,
  foldTransitions,
} from './fold-transitions.ts';
export {
  acceptedEvents,
  executionGraph,
  FLOW_ONLY_PAIRS,
  isLegalTransition,
  type LegalPair,
  sessionGraph,
} from './legal-graph.ts';
export { nextSnapshot } from './next-snapshot.ts';
export { isInFlight, type OpenCall, waitsForPerson, waitsToRetry } from './open-calls.ts';
export { type Effect, type ExecutionFacts, pendingEffects } from './pending-effects.ts';
export {
  SESSION_MACHINE_ID,
  SESSION_MACHINE_VERSION,
  type SessionContext,
  sessionMachine,
} from './session.machine.ts';
export {
  type AttemptResult,
  type CallVerdict,
  type EventOf,
  type EvidencedResult,
  type FailedAttempt,
  type PlannedCall,
  type RecordedEvent,
  recordedEvent,
  type SessionEvent,
  type SessionEventType,
  type StartedAttempt,
  type UnknownAttempt,
  type Waits,
} from './session-event.ts';
export { isResting, RESTING_STATES, SESSION_STATES, type SessionState } from './session-state.ts';
export {
  decodeSnapshot,
  encodeSnapshot,
  initialSnapshot,
  type SessionSnapshot,
  type StoredMachine,
  type StoredSnapshot,
} from './snapshot-codec.ts';
export { type ExecutionEvent, toolExecutionMachine } from './tool-execution.machine.ts';
