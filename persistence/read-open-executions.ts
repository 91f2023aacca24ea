import type { EntityManager } from '@mikro-orm/postgresql';
import type { CommittedSession } from './committed-session.ts';
import { AgentToolExecution, type AgentToolExecutionRow } from './entities/agent-tool-execution.entity.ts';
import type { ExecutionRow } from './row-changes.ts';

/** The executions of the assistant turn whose calls are open. */
export interface OpenExecutions {
  /** Managed entities, in call order. */
  rows: AgentToolExecutionRow[];
  /** The same as plain values. */
  executions: ExecutionRow[];
  callTurnId: string | null;
}

/** Reads the executions that `session`'s snapshot names; no statement is sent when no call is open. */
export async function readOpenExecutions(em: EntityManager, session: CommittedSession): Promise<OpenExecutions> {
  const executionIds = session.snapshot.context.calls.map((call) => call.executionId);
  if (executionIds.length === 0) return { rows: [], executions: [], callTurnId: null };
  const { tenantId, sessionId } = session;
  const rows = await em.find(
    AgentToolExecution,
    { executionId: { $in: executionIds }, tenantId, sessionId },
    { orderBy: { ordinal: 'asc' } },
  );
  return { rows, executions: rows.map(toExecutionRow), callTurnId: rows[0]?.turnId ?? null };
}

/** `row` as plain values. */
export function toExecutionRow(row: AgentToolExecutionRow): ExecutionRow {
  return {
    executionId: row.executionId,
    turnId: row.turnId,
    runId: row.runId,
    ordinal: row.ordinal,
    toolName: row.toolName,
    toolVersion: row.toolVersion,
    effect: row.effect as ExecutionRow['effect'],
    idempotencyKey: row.idempotencyKey,
    inputParameters: row.inputParameters as ExecutionRow['inputParameters'],
    paramsDigest: row.paramsDigest,
    providerCallId: row.providerCallId ?? null,
    rawInput: row.rawInput ?? null,
    answeredBy: row.answeredBy ?? null,
    claimDigest: row.claimDigest ?? null,
    claimGeneration: row.claimGeneration ?? null,
    normalised: (row.normalised ?? null) as ExecutionRow['normalised'],
    status: row.status as ExecutionRow['status'],
    attempt: row.attempt,
    outputPayload: (row.outputPayload ?? null) as ExecutionRow['outputPayload'],
    errorMessage: row.errorMessage ?? null,
    errorCode: row.errorCode ?? null,
    startedAt: row.startedAt,
    completedAt: row.completedAt ?? null,
    deadlineAt: row.deadlineAt ?? null,
    retryAt: row.retryAt ?? null,
    fencingToken: row.fencingToken ?? null,
    unknownAt: row.unknownAt ?? null,
    unknownReason: (row.unknownReason ?? null) as ExecutionRow['unknownReason'],
    settledBy: row.settledBy ?? null,
    upgradedParameters: (row.upgradedParameters ?? null) as ExecutionRow['upgradedParameters'],
    upgradedDigest: row.upgradedDigest ?? null,
    upgradedVersion: row.upgradedVersion ?? null,
    metadata: (row.metadata ?? {}) as ExecutionRow['metadata'],
  };
}
