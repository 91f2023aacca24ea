import type { EntityManager } from '@mikro-orm/postgresql';
import type { TokenUsage } from '../machines/event-content.ts';
import { type AuditRow, readAuditRows } from './audit/read-audit-rows.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import { readTimelineCalls, type TimelineCall } from './read-timeline-calls.ts';
import { type CutValue, cutJson, cutText, uuids } from './read-timeline-values.ts';
import { type StoredTransition, toTransition } from './read-transitions.ts';
import type { TurnRow } from './row-changes.ts';
import type { Store } from './session-transaction.ts';

/** Which entries: those after a sequence, in order, or the last ones before it. */
export type TimelinePage = { after: number; limit: number } | { before: number; limit: number };

/** A turn as a timeline shows it. */
export interface TimelineTurn {
  turnId: string;
  turnIndex: number;
  role: TurnRow['role'];
  content: CutValue;
  /** As JSON. */
  parts: CutValue;
  /** As JSON; `null` where it has none. */
  metadata: CutValue | null;
  /** Paths at which characters were replaced. */
  normalised: string[];
  callOrdinal: number | null;
  executionId: string | null;
  createdAt: Date;
}

/** One attempt of a model call. */
export interface TimelineModelCall {
  modelCallId: string;
  attempt: number;
  modelId: string;
  latencyMs: number | null;
  usage: TokenUsage;
  finishReason: string | null;
  errorCode: string | null;
  errorMessage: CutValue | null;
}

/** A transition with what its commit wrote. */
export interface TimelineEntry {
  transition: StoredTransition;
  /** When its payload was erased; `null` where it was not. */
  erasedAt: Date | null;
  /** Those that it wrote, at most {@link MAX_TURNS}: the last ones of a fork's prefix. */
  turns: TimelineTurn[];
  /** How many it wrote. */
  turnCount: number;
  modelCall: TimelineModelCall | null;
  /** The calls that its turns made. */
  calls: TimelineCall[];
}

/** Some entries of a session's timeline, by sequence, read in one transaction. */
export interface Timeline {
  entries: TimelineEntry[];
  /** Every call that an entry names or made, by id: at most {@link MAX_CALLS}. */
  calls: ReadonlyMap<string, TimelineCall>;
  /** Of the runs of the entries: what they took up to now, as a whole. */
  runs: ReadonlyMap<string, RunTotals>;
}

/** What the model calls of a run took. */
export interface RunTotals {
  modelCalls: number;
  inputTokens: number;
  outputTokens: number;
  latencyMs: number;
}

/** How many turns of one transition are read. */
const MAX_TURNS = 20;

/**
 * Entries of a session's timeline: the transitions of a page and whatever their commits wrote, in eight statements, however long the session
 * and whatever the page. Long values are cut by the database, so that a page has a bound. Where a payload was erased, nothing says what the
 * commit wrote.
 */
export async function readTimeline(store: Store, key: SessionKey, page: TimelinePage): Promise<Timeline> {
  return inPatientTransaction(store, { tenantId: key.tenantId }, async (em) => {
    const rows = await readRows(em, key, page);
    const turns = await readTurns(em, key, rows.flatMap(lastTurns));
    const made = turns.filter(({ role }) => role === 'assistant').map(({ turnId }) => turnId);
    const calls = await readTimelineCalls(em, key, { turnIds: made, executionIds: rows.flatMap(namedExecutions) });
    const modelCalls = await readModelCalls(em, key, rows.flatMap(modelCallIds));
    const runs = await readRuns(em, key, [...new Set(rows.flatMap(({ runId }) => runId ?? []))]);
    const byIndex = new Map(turns.map((turn) => [turn.turnIndex, turn]));
    const entries = rows.map((row): TimelineEntry => {
      const own = lastTurns(row).flatMap((index) => byIndex.get(index) ?? []);
      const ids = new Set(own.map(({ turnId }) => turnId));
      return {
        transition: toTransition(row),
        erasedAt: row.erasedAt,
        turns: own,
        turnCount: row.payload?.turns.length ?? 0,
        modelCall: modelCalls.find(({ modelCallId }) => modelCallIds(row).includes(modelCallId)) ?? null,
        calls: [...calls.values()].filter(({ turnId }) => ids.has(turnId)),
      };
    });
    return { entries, calls, runs };
  });
}

async function readRows(em: EntityManager, key: SessionKey, page: TimelinePage): Promise<AuditRow[]> {
  if ('after' in page) return readAuditRows(em, { ...key, ...page });
  // Sequences have no gap, so the last ones before another are found by counting.
  const after = Math.max(0, page.before - 1 - page.limit);
  return readAuditRows(em, { ...key, after, upTo: page.before - 1, limit: page.limit });
}

function lastTurns({ payload }: AuditRow): number[] {
  return (payload?.turns ?? []).slice(-MAX_TURNS);
}

function modelCallIds({ payload }: AuditRow): string[] {
  return Object.keys(payload?.rows?.modelCalls ?? {}).filter(isUuid);
}

/** The executions that a recorded event is about. */
function namedExecutions({ payload }: AuditRow): string[] {
  const { executionId, answersExecutionId, executionIds, executions, results } = (payload?.event ?? {}) as Named;
  const listed = [executions, results].flatMap((list) => (Array.isArray(list) ? list : []));
  const ids = [executionId, answersExecutionId, ...(Array.isArray(executionIds) ? executionIds : [])];
  return [...ids, ...listed.map((one: { executionId?: unknown } | null) => one?.executionId)].filter(isUuid);
}

type Named = Partial<Record<'executionId' | 'answersExecutionId' | 'executionIds' | 'executions' | 'results', unknown>>;

/** The statement casts it. */
function isUuid(id: unknown): id is string {
  return typeof id === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}

async function readTurns(em: EntityManager, key: SessionKey, indexes: number[]): Promise<TimelineTurn[]> {
  if (indexes.length === 0) return [];
  return selectTurns(em, key, `turn_index = any (?::int[]) order by turn_index`, [`{${indexes.join(',')}}`]);
}

/** The last `limit` turns of a session before `turnIndex`, by index. */
export async function readTurnsBefore(
  store: Store,
  key: SessionKey,
  { turnIndex, limit }: { turnIndex: number; limit: number },
): Promise<TimelineTurn[]> {
  return inPatientTransaction(store, { tenantId: key.tenantId }, async (em) =>
    (await selectTurns(em, key, 'turn_index < ? order by turn_index desc limit ?', [turnIndex, limit])).reverse(),
  );
}

async function selectTurns(
  em: EntityManager,
  { tenantId, sessionId }: SessionKey,
  which: string,
  values: unknown[],
): Promise<TimelineTurn[]> {
  const rows = (await em.execute(
    `select turn_id as "turnId", turn_index as "turnIndex", role, ${cutText('content')} as content, ${cutJson('parts')} as parts,
            case when metadata <> '{}'::jsonb then ${cutJson('metadata')} end as metadata, coalesce(normalised, '[]') as normalised,
            call_ordinal as "callOrdinal", execution_id as "executionId", (extract(epoch from created_at) * 1000)::float8 as at
       from turnlock.agent_turns where tenant_id = ? and session_id = ? and ${which}`,
    [tenantId, sessionId, ...values],
  )) as (Omit<TimelineTurn, 'createdAt'> & { at: number })[];
  return rows.map(({ at, ...turn }) => ({ ...turn, createdAt: new Date(at) }));
}

async function readModelCalls(
  em: EntityManager,
  { tenantId, sessionId }: SessionKey,
  ids: string[],
): Promise<TimelineModelCall[]> {
  if (ids.length === 0) return [];
  return (await em.execute(
    `select model_call_id as "modelCallId", attempt, model_id as "modelId", latency_ms as "latencyMs", token_usage_json as usage,
            finish_reason as "finishReason", error_code as "errorCode",
            case when error_message is not null then ${cutText('error_message')} end as "errorMessage"
       from turnlock.agent_model_calls where tenant_id = ? and session_id = ? and model_call_id = any (?::uuid[])`,
    [tenantId, sessionId, uuids(ids)],
  )) as TimelineModelCall[];
}

async function readRuns(
  em: EntityManager,
  { tenantId, sessionId }: SessionKey,
  ids: string[],
): Promise<Map<string, RunTotals>> {
  if (ids.length === 0) return new Map();
  const rows = (await em.execute(
    `select run_id as "runId", ${TOTALS} from turnlock.agent_model_calls
      where tenant_id = ? and session_id = ? and run_id = any (?::uuid[]) group by run_id`,
    [tenantId, sessionId, uuids(ids)],
  )) as (RunTotals & { runId: string })[];
  return new Map(rows.map(({ runId, ...totals }) => [runId, totals]));
}

const tokens = (name: string) =>
  `coalesce(sum(case when jsonb_typeof(token_usage_json -> '${name}') = 'number' then (token_usage_json ->> '${name}')::float8 end), 0)::float8`;

const TOTALS = `count(*)::int as "modelCalls", ${tokens('inputTokens')} as "inputTokens", ${tokens('outputTokens')} as "outputTokens",
  coalesce(sum(latency_ms), 0)::float8 as "latencyMs"`;

/** What a session took and holds as a whole. */
export interface SessionTotals extends RunTotals {
  turns: number;
  toolCalls: number;
  runs: number;
}

/** Counts what a session holds. */
export async function readSessionTotals(store: Store, { tenantId, sessionId }: SessionKey): Promise<SessionTotals> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const [row] = (await em.execute(
      `select m.*, (select count(*)::int from turnlock.agent_turns where tenant_id = ? and session_id = ?) as turns,
              (select count(*)::int from turnlock.agent_tool_executions e
                 join turnlock.agent_turns t on t.turn_id = e.turn_id where t.tenant_id = ? and t.session_id = ?) as "toolCalls"
         from (select ${TOTALS}, count(distinct run_id)::int as runs from turnlock.agent_model_calls
                where tenant_id = ? and session_id = ?) m`,
      [tenantId, sessionId, tenantId, sessionId, tenantId, sessionId],
    )) as [SessionTotals];
    return row;
  });
}
