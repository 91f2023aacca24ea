import type { EntityManager } from '@mikro-orm/postgresql';
import { isSettled } from '../machines/execution-status.ts';
import type { CommitRequest, CommittedTransition } from './commit-request.ts';
import { AgentModelCall } from './entities/agent-model-call.entity.ts';
import type { AgentSessionRow } from './entities/agent-session.entity.ts';
import { AgentToolExecution, type AgentToolExecutionRow } from './entities/agent-tool-execution.entity.ts';
import { AgentTransition } from './entities/agent-transition.entity.ts';
import { AgentTransitionPayload } from './entities/agent-transition-payload.entity.ts';
import { AgentTurn } from './entities/agent-turn.entity.ts';
import { saltedDigest } from './keys/salted-digest.ts';
import { toExecutionRow } from './read-open-executions.ts';
import type { ExecutionRow, RowChanges, TurnRow } from './row-changes.ts';
import type { Store } from './session-transaction.ts';

/** What the unit of work of one commit is made from. */
export interface Writing {
  request: CommitRequest;
  /** The session's managed row, already changed. */
  row: AgentSessionRow;
  /** The managed executions of the turn whose calls were open. */
  open: AgentToolExecutionRow[];
  changes: RowChanges;
  transition: CommittedTransition;
  contentDigest: string | null;
  now: Date;
}

/**
 * Adds everything that one event writes to `em` and flushes it: turns, executions, the transition with its payload, the model call,
 * and the session's row with its version in the WHERE. Returns the executions whose calls are open now.
 */
export async function writeCommit(store: Store, em: EntityManager, writing: Writing): Promise<ExecutionRow[]> {
  const { request, changes, now } = writing;
  const owner = { tenantId: request.tenantId, sessionId: request.sessionId };
  for (const turn of changes.turns) em.persist(em.create(AgentTurn, { ...owner, ...turn, createdAt: now }));
  for (const execution of changes.insertedExecutions) {
    em.persist(em.create(AgentToolExecution, { ...owner, ...execution }));
  }
  for (const execution of writing.open)
    em.assign(execution, changes.updatedExecutions.get(execution.executionId) ?? {});
  writeModelCall(em, writing, owner);
  writeTransition(store, em, writing, owner);
  await em.flush();
  const written = [...writing.open.map(toExecutionRow), ...changes.insertedExecutions];
  return written.filter(({ executionId }) => isOpen(writing.row, executionId));
}

function isOpen(row: AgentSessionRow, executionId: string): boolean {
  const { context } = row.snapshot as { context: { calls: { executionId: string }[] } };
  return context.calls.some((call) => call.executionId === executionId);
}

interface Owner {
  tenantId: string;
  sessionId: string;
}

function writeModelCall(em: EntityManager, { changes, transition }: Writing, owner: Owner): void {
  if (changes.modelCall === null) return;
  const { startedAt, usage, ...rest } = changes.modelCall;
  const runId = transition.runId as string;
  em.persist(
    em.create(AgentModelCall, {
      ...owner,
      ...rest,
      runId,
      startedAt: new Date(startedAt),
      tokenUsageJson: usage,
      memories: [],
    }),
  );
}

function writeTransition(store: Store, em: EntityManager, writing: Writing, owner: Owner): void {
  const { request, row, changes, transition, contentDigest } = writing;
  const salt = store.environment.uuid().replaceAll('-', '');
  const outcomes = settledOutcomes(writing);
  const payload = {
    event: transition.event,
    contentDigest,
    turns: changes.turns.map((turn) => turn.turnIndex),
    outcomes: outcomes.map(([executionId]) => executionId),
  };
  const { sequence } = transition;
  em.persist(
    em.create(AgentTransition, {
      ...owner,
      sequence,
      runId: transition.runId,
      fromState: transition.from,
      toState: transition.to,
      event: transition.event.type,
      eventId: transition.eventId,
      cause: request.cause,
      token: row.leaseToken,
      payloadDigest: saltedDigest(salt, payload),
      turnsDigest: saltedDigest(salt, changes.turns.map(turnFacts)),
      outcomesDigest: saltedDigest(salt, outcomes),
    } as never),
  );
  em.persist(em.create(AgentTransitionPayload, { ...owner, sequence, salt, payload }));
}

/** What the audit vouches for of a turn, in fixed order. */
function turnFacts(turn: TurnRow) {
  const { turnIndex, role, content, parts, executionId, callOrdinal } = turn;
  return [turnIndex, role, content, parts, executionId, callOrdinal];
}

/** What the audit vouches for of the executions that this commit settled, in fixed order. */
function settledOutcomes({ open, changes }: Writing) {
  const updated = open.filter(({ executionId }) => changes.updatedExecutions.get(executionId)?.status !== undefined);
  return [...updated.map(toExecutionRow), ...changes.insertedExecutions]
    .filter((execution) => isSettled(execution.status))
    .map(
      ({ executionId, status, attempt, outputPayload, errorMessage }) =>
        [executionId, status, attempt, outputPayload, errorMessage] as const,
    );
}
