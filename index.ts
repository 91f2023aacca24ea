export type { EmbedContext, Embedder } from './adapters/embedders/embedder.contract.ts';
export type {
  Model,
  ModelContext,
  ModelDelta,
  ModelRequest,
  ModelResponse,
  ModelTool,
  ModelToolCall,
  ModelTurn,
  ToolOutcome,
} from './adapters/models/model.contract.ts';
export type {
  ModelCallEnd,
  ObservedAsking,
  ObservedCommit,
  ObservedModelCall,
  ObservedRun,
  ObservedSending,
  ObservedSession,
  ObservedToolCall,
  ObservedWork,
  RefusedCommit,
  RunEnd,
  RunTelemetry,
  Telemetry,
  ToolCallEnd,
  TraceCarrier,
} from './adapters/telemetry/telemetry.contract.ts';
export { type AskUserOptions, askUser } from './adapters/tools/ask-user.ts';
export { defineTool, type Returned, type ToolDefinition } from './adapters/tools/define-tool.ts';
export type {
  RememberedKind,
  ToolMemory,
  ToolRecalled,
  ToolRecallQuery,
  ToolRemembered,
  TransactionalMemory,
} from './adapters/tools/memory.contract.ts';
export {
  type ApprovalRule,
  allow,
  deny,
  type Policy,
  type PolicyContext,
  type PolicyVerdict,
  requireApproval,
  strictest,
} from './adapters/tools/policy.ts';
export { type RecallToolOptions, recallTool } from './adapters/tools/recall-tool.ts';
export { cannotTell, done, notDone, type Reconciliation } from './adapters/tools/reconciliation.ts';
export { type RememberToolOptions, rememberTool } from './adapters/tools/remember-tool.ts';
export type {
  InputSchema,
  Once,
  OnRepeat,
  OutputSchema,
  Queryable,
  QueryConfig,
  QueryResult,
  Retry,
  RetryBackoff,
  Scratchpad,
  Tool,
  ToolClaim,
  ToolContext,
  ToolEffect,
  TransactionalContext,
} from './adapters/tools/tool.contract.ts';
export { ToolError, type ToolErrorOptions } from './adapters/tools/tool-error.ts';
export { type Versioned, versioned } from './adapters/tools/versioned.ts';
export { type Environment, FAULT_POINTS, type FaultInfo, type FaultPoint, systemEnvironment } from './environment.ts';
export {
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
  isTurnlockError,
  TurnlockError,
  type TurnlockErrorJson,
  type TurnlockErrorOptions,
} from './errors.ts';
export { LIMITS, type Limits, type RunLimits } from './limits.ts';
export type { Approvers, Json, TokenUsage, TurnPart } from './machines/event-content.ts';
export type { EffectClass, ExecutionStatus } from './machines/execution-status.ts';
export type { RecordedEvent, SessionEventType } from './machines/session-event.ts';
export { SESSION_STATES, type SessionState } from './machines/session-state.ts';
export type { Finding, FindingCode } from './persistence/audit/finding.ts';
export type { Replay, Verification } from './persistence/audit/verify-session.ts';
export type { CallerTransaction } from './persistence/caller-transaction.ts';
export type { DatabaseAdapter } from './persistence/database.contract.ts';
export { DOCTOR_CODES, type DoctorCode, type Severity } from './persistence/doctor/doctor-codes.ts';
export type { WhenBusy } from './persistence/inbox.ts';
export type { Awaiting, LateFact } from './persistence/list-awaiting.ts';
export type { SessionSummary, Stranded } from './persistence/list-sessions.ts';
export type { MemoryKind } from './persistence/memory/new-memory.ts';
export type { FoundMemory } from './persistence/memory/recall-memories.ts';
export type { StoredTransition, TransitionsQuery } from './persistence/read-transitions.ts';
export type { StoredTurn, TurnsQuery } from './persistence/read-turns.ts';
export type { OnAwaiting } from './runtime/announcer.ts';
export type { ApproveOptions, Deciding, DenyOptions } from './runtime/check-decision.ts';
export type { ForkOptions } from './runtime/check-fork.ts';
export type { SendOptions } from './runtime/check-message.ts';
export type { AwaitingOptions, SessionsOptions } from './runtime/check-query.ts';
export type { Settlement } from './runtime/check-settlement.ts';
export type {
  AgentContext,
  AgentRecall,
  AgentRecallOptions,
  ContextOptions,
} from './runtime/context/context-options.ts';
export type { CountTokens } from './runtime/context/count-tokens.ts';
export { createRuntime, type OutputOf, type Runtime, type RuntimeOptions } from './runtime/create-runtime.ts';
export type { BatchAnswer, BatchDecision } from './runtime/decide.ts';
export {
  type Agent,
  type AgentDefinition,
  type AgentOutput,
  defineAgent,
  type Instructions,
  type InstructionsContext,
} from './runtime/define-agent.ts';
export type { DoctorOptions } from './runtime/doctor/check-doctor.ts';
export type { DoctorReport } from './runtime/doctor/doctor.ts';
export type { DoctorFinding } from './runtime/doctor/doctor-finding.ts';
export type { EraseUserOptions, Erasure } from './runtime/erase-user.ts';
export type {
  CommandWords,
  Explanation,
  HoldingControl,
  Unblocking,
  Waiting,
  WaitingCall,
  WaitingFacts,
  WaitingKind,
} from './runtime/explain/explanation.ts';
export type { Followed, FollowOptions } from './runtime/followed.ts';
export { LOG_EVENTS, type Log, type LogEntry, type LogEvent, type LogLevel } from './runtime/log.ts';
export type { ForgetOptions, ListMemoriesOptions, RecallOptions, Remembered } from './runtime/memory/check-memory.ts';
export type { Memory, RememberOptions } from './runtime/memory/memory-handle.ts';
export type { MemoryOptions } from './runtime/memory/memory-options.ts';
export type { Recalled } from './runtime/memory/search-memories.ts';
export type { NewSessionOptions, SessionActorInput, SessionReference } from './runtime/open-session.ts';
export type { Recovery } from './runtime/recover.ts';
export type { RetainOptions, Retention, RetentionPolicy } from './runtime/retain.ts';
export type { Run } from './runtime/run.ts';
export type { AwaitedExecution, RunEvent, RunResult } from './runtime/run-event.ts';
export type {
  ActorMessage,
  EventRefused,
  SessionActorEvent,
  SessionLogic,
  SessionSnapshot,
} from './runtime/session-actor.ts';
export type { Session } from './runtime/session-handle.ts';
export type { SessionReading } from './runtime/session-reading.ts';
export type { SessionStatus } from './runtime/session-status.ts';
export type { WorkerOptions } from './runtime/worker-control.ts';
export type {
  DeltaChannel,
  DeltaMessage,
  DeltaPiece,
  DeltaTopic,
  Unsubscribe,
} from './runtime/working-state/delta-channel.contract.ts';
export { inProcessDeltas } from './runtime/working-state/in-process-deltas.ts';
