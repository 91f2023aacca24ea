import type { EntityManager } from '@mikro-orm/postgresql';
import type { Json } from '../machines/event-content.ts';
import { outcomeFacts, settledOf, turnFacts } from './audited-facts.ts';
import { rowDigests } from './audited-rows.ts';
import type { CommitRequest, CommittedTransition } from './commit-request.ts';
import type { AgentApprovalRow } from './entities/agent-approval.entity.ts';
import { AgentModelCall, type AgentModelCallRow } from './entities/agent-model-call.entity.ts';
import type { AgentSessionRow } from './entities/agent-session.entity.ts';
import { AgentToolExecution, type AgentToolExecutionRow } from './entities/agent-tool-execution.entity.ts';
import { AgentTurn } from './entities/agent-turn.entity.ts';
import { saltedDigest } from './keys/salted-digest.ts';
import { insertMemory } from './memory/new-memory.ts';
import { persistTransition } from './persist-transition.ts';
import { toExecutionRow } from './read-open-executions.ts';
import type { ExecutionRow, RowChanges } from './row-changes.ts';
import type { Store } from './session-transaction.ts';

/** What the unit of work of one commit is made from. */
export interface Writing {
  request: CommitRequest;
  /** The session's managed row, already changed. */
  row: AgentSessionRow;
  /** The managed executions of the turn whose calls were open. */
  open: AgentToolExecutionRow[];
  changes: RowChanges;
  /** The managed rounds of asking that it opens or changes. */
  rounds: AgentApprovalRow[];
  transition: CommittedTransition;
  contentDigest: string | null;
  /** The worker under whose lease it is committed; `null` where it needs none. */
  holder: string | null;
  /** The caller's id of the message that causes it; `null` where there is none. */
  messageId: string | null;
  now: Date;
}

/**
 * Adds everything that one event writes to `em` and flushes it: turns, executions, the transition with its payload, the model call, the
 * session's row with its version in the WHERE, and what is remembered. Returns the executions whose calls are open now.
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
  const modelCall = writeModelCall(em, writing, owner);
  writeTransition(store, em, writing, { owner, modelCall });
  await em.flush();
  await writeMemories(em, writing);
  const written = [...writing.open.map(toExecutionRow), ...changes.insertedExecutions];
  return written.filter(({ executionId }) => isOpen(writing.row, executionId));
}

/** Once turns and transition are there: they are what the rows point at. An upgrade of the machine goes before the event, and brings nothing along. */
async function writeMemories(em: EntityManager, { request, row, transition }: Writing): Promise<void> {
  if (request.memories === undefined || transition.event.type === 'machine.upgraded') return;
  const { tenantId, sessionId, userId } = row;
  for (const memory of request.memories) {
    await insertMemory(em, { tenantId, userId }, memory, { sessionId, sequence: transition.sequence });
  }
}

function isOpen(row: AgentSessionRow, executionId: string): boolean {
  const { context } = row.snapshot as { context: { calls: { executionId: string }[] } };
  return context.calls.some((call) => call.executionId === executionId);
}

interface Owner {
  tenantId: string;
  sessionId: string;
}

function writeModelCall(em: EntityManager, { changes, transition }: Writing, owner: Owner): AgentModelCallRow | null {
  if (changes.modelCall === null) return null;
  const { startedAt, usage, memories, ...rest } = changes.modelCall;
  const runId = transition.runId as string;
  const row = em.create(AgentModelCall, {
    ...owner,
    ...rest,
    runId,
    startedAt: new Date(startedAt),
    tokenUsageJson: usage,
    memories: memories as unknown as Json,
  });
  em.persist(row);
  return row;
}

function writeTransition(
  store: Store,
  em: EntityManager,
  writing: Writing,
  { owner, modelCall }: { owner: Owner; modelCall: AgentModelCallRow | null },
): void {
  const { request, row, changes, transition, contentDigest, holder, messageId } = writing;
  const salt = store.environment.uuid().replaceAll('-', '');
  const outcomes = settledOutcomes(writing);
  persistTransition(em, owner, {
    transition,
    cause: request.cause,
    token: row.leaseToken,
    salt,
    payload: {
      event: transition.event,
      contentDigest,
      turns: changes.turns.map((turn) => turn.turnIndex),
      outcomes: outcomes.map(([executionId]) => executionId),
      holder,
      messageId,
      rows: rowDigests(salt, {
        session: row,
        turns: changes.turns,
        now: writing.now,
        modelCall,
        executions: writtenExecutions(writing),
        rounds: writing.rounds,
      }),
    },
    turnsDigest: saltedDigest(salt, changes.turns.map(turnFacts)),
    outcomesDigest: saltedDigest(salt, outcomes),
  });
}

function writtenExecutions({ open, changes }: Writing): ExecutionRow[] {
  const updated = open.filter(({ executionId }) => changes.updatedExecutions.has(executionId));
  return [...updated.map(toExecutionRow), ...changes.insertedExecutions];
}

function settledOutcomes({ open, changes }: Writing) {
  const updated = open.filter(({ executionId }) => changes.updatedExecutions.get(executionId)?.status !== undefined);
  return settledOf([...updated.map(toExecutionRow), ...changes.insertedExecutions]).map(outcomeFacts);
}
