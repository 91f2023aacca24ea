import type { EntityManager } from '@mikro-orm/postgresql';
import type { EffectClass, ExecutionStatus, UnknownReason } from '../machines/execution-status.ts';
import type { SessionState } from '../machines/session-state.ts';
import type { RoundDecision, RoundKind } from './project-rounds.ts';
import type { SessionKey } from './read-session.ts';
import { type CutValue, cutJson, cutText, uuids } from './read-timeline-values.ts';

/** A tool execution with all that belongs to it, as it stands now. */
export interface TimelineCall {
  executionId: string;
  turnId: string;
  turnIndex: number;
  ordinal: number;
  toolName: string;
  toolVersion: number;
  effect: EffectClass;
  status: ExecutionStatus;
  attempt: number;
  idempotencyKey: string;
  digest: string;
  /** As JSON; those that count now. */
  params: CutValue;
  /** What the model wrote, where that was no JSON. */
  rawInput: CutValue | null;
  /** As JSON; `null` where there is none. */
  output: CutValue | null;
  errorCode: string | null;
  errorMessage: CutValue | null;
  unknownReason: UnknownReason | null;
  settledBy: string | null;
  /** The execution whose result answered it. */
  answeredBy: string | null;
  /** As JSON; `null` where there is none. */
  metadata: CutValue | null;
  startedAt: Date;
  completedAt: Date | null;
  deadlineAt: Date | null;
  retryAt: Date | null;
  rounds: TimelineRound[];
  evidence: TimelineEvidence[];
  child: TimelineChild | null;
}

/** One round of asking people about a call. */
export interface TimelineRound {
  executionId: string;
  round: number;
  kind: RoundKind;
  digest: string;
  question: CutValue | null;
  /** As JSON; `null`: whoever the host lets in. */
  approvers: CutValue | null;
  requestedAt: Date;
  expiresAt: Date | null;
  /** `null` while it is open. */
  decision: RoundDecision | null;
  decidedBy: string | null;
  decidedAt: Date | null;
  reason: CutValue | null;
  consumedAt: Date | null;
}

/** A result that came too late for its own commit. */
export interface TimelineEvidence {
  executionId: string;
  attempt: number;
  outcome: string;
  output: CutValue | null;
  errorCode: string | null;
  errorMessage: CutValue | null;
  createdAt: Date;
}

/** The session of another agent that answers a call. */
export interface TimelineChild {
  executionId: string;
  sessionId: string;
  agent: string;
  state: SessionState;
}

/** How many calls of a page are read. */
const MAX_CALLS = 400;

/** How many rounds, and how many late results, are read of them. */
const MAX_OF_EACH = 800;

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const orNull = (column: string, expression: string) => `case when ${column} is not null then ${expression} end`;

/** The calls of some turns and those of some ids, by turn and ordinal, with their rounds, late results and children. */
export async function readTimelineCalls(
  em: EntityManager,
  { tenantId, sessionId }: SessionKey,
  { turnIds, executionIds }: { turnIds: readonly string[]; executionIds: readonly string[] },
): Promise<Map<string, TimelineCall>> {
  if (turnIds.length === 0 && executionIds.length === 0) return new Map();
  const rows = (await em.execute(
    `select e.execution_id as "executionId", e.turn_id as "turnId", t.turn_index as "turnIndex", e.ordinal, e.tool_name as "toolName",
            coalesce(e.upgraded_version, e.tool_version) as "toolVersion", e.effect, e.status, e.attempt,
            e.idempotency_key as "idempotencyKey", coalesce(e.upgraded_digest, e.params_digest) as digest,
            ${cutJson('case when e.upgraded_version is null then e.input_parameters else e.upgraded_parameters end')} as params,
            ${orNull('e.raw_input', cutText('e.raw_input'))} as "rawInput",
            ${orNull('e.output_payload', cutJson('e.output_payload'))} as output, e.error_code as "errorCode",
            ${orNull('e.error_message', cutText('e.error_message'))} as "errorMessage", e.unknown_reason as "unknownReason",
            e.settled_by as "settledBy", e.answered_by as "answeredBy",
            case when e.metadata <> '{}'::jsonb then ${cutJson('e.metadata')} end as metadata, ${ms('e.started_at')} as "startedAt",
            ${ms('e.completed_at')} as "completedAt", ${ms('e.deadline_at')} as "deadlineAt", ${ms('e.retry_at')} as "retryAt"
       from turnlock.agent_tool_executions e join turnlock.agent_turns t on t.turn_id = e.turn_id
      where e.tenant_id = ? and e.session_id = ? and (e.turn_id = any (?::uuid[]) or e.execution_id = any (?::uuid[]))
      order by t.turn_index, e.ordinal limit ?`,
    [tenantId, sessionId, uuids(turnIds), uuids([...new Set(executionIds)]), MAX_CALLS],
  )) as TimelineCall[];
  const ids = rows.map(({ executionId }) => executionId);
  const rounds = ids.length === 0 ? [] : await readRounds(em, { tenantId, sessionId }, ids);
  const evidence = ids.length === 0 ? [] : await readEvidence(em, { tenantId, sessionId }, ids);
  const children = ids.length === 0 ? [] : await readChildren(em, tenantId, ids);
  return new Map(
    rows.map((row) => [
      row.executionId,
      {
        ...dated(row, ['startedAt', 'completedAt', 'deadlineAt', 'retryAt']),
        rounds: rounds.filter(({ executionId }) => executionId === row.executionId),
        evidence: evidence.filter(({ executionId }) => executionId === row.executionId),
        child: children.find(({ executionId }) => executionId === row.executionId) ?? null,
      },
    ]),
  );
}

async function readRounds(em: EntityManager, { tenantId, sessionId }: SessionKey, ids: string[]) {
  const rows = (await em.execute(
    `select execution_id as "executionId", round, kind, args_digest as digest, ${orNull('question', cutText('question'))} as question,
            ${orNull('approvers', cutJson('approvers'))} as approvers, ${ms('requested_at')} as "requestedAt",
            ${ms('expires_at')} as "expiresAt", decision, decided_by as "decidedBy", ${ms('decided_at')} as "decidedAt",
            ${orNull('reason', cutText('reason'))} as reason, ${ms('consumed_at')} as "consumedAt"
       from turnlock.agent_approvals where tenant_id = ? and session_id = ? and execution_id = any (?::uuid[])
      order by requested_at, round limit ?`,
    [tenantId, sessionId, uuids(ids), MAX_OF_EACH],
  )) as TimelineRound[];
  return rows.map((row) => dated(row, ['requestedAt', 'expiresAt', 'decidedAt', 'consumedAt']));
}

async function readEvidence(em: EntityManager, { tenantId, sessionId }: SessionKey, ids: string[]) {
  const rows = (await em.execute(
    `select execution_id as "executionId", attempt, outcome, ${orNull('output', cutJson('output'))} as output,
            error_code as "errorCode", ${orNull('error_message', cutText('error_message'))} as "errorMessage",
            ${ms('created_at')} as "createdAt"
       from turnlock.agent_tool_evidence where tenant_id = ? and session_id = ? and execution_id = any (?::uuid[])
      order by created_at, evidence_id limit ?`,
    [tenantId, sessionId, uuids(ids), MAX_OF_EACH],
  )) as TimelineEvidence[];
  return rows.map((row) => dated(row, ['createdAt']));
}

async function readChildren(em: EntityManager, tenantId: string, ids: string[]): Promise<TimelineChild[]> {
  return (await em.execute(
    `select parent_execution_id as "executionId", session_id as "sessionId", agent_name as agent, current_state as state
       from turnlock.agent_sessions where tenant_id = ? and parent_execution_id = any (?::uuid[])`,
    [tenantId, uuids(ids)],
  )) as TimelineChild[];
}

/** `row` with Dates in place of milliseconds. */
function dated<Row extends object>(row: Row, names: readonly (keyof Row)[]): Row {
  const times = names.map((name) => [name, row[name] === null ? null : new Date(Number(row[name]))]);
  return { ...row, ...Object.fromEntries(times) };
}
