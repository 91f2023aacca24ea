import type { EntityManager } from '@mikro-orm/postgresql';
import type { RecordedEvent, SessionEventType } from '../machines/session-event.ts';
import type { SessionState } from '../machines/session-state.ts';
import { AgentSession, type AgentSessionRow } from './entities/agent-session.entity.ts';
import { UNTAKEN_EVIDENCE } from './evidence.ts';
import { OPEN_QUESTIONS, type OpenQuestions } from './open-questions.ts';
import { type SessionKey, sessionNotFound } from './read-session.ts';

/** A transition that was committed under an event id before. */
export interface SeenEvent {
  sequence: number;
  from: SessionState;
  to: SessionState;
  type: SessionEventType;
  runId: string | null;
  /** The recorded event; `null` once its payload was erased. */
  event: RecordedEvent | null;
  contentDigest: string | null;
}

/** The session's inbox, counted. */
export interface InboxCount {
  /** Whether it has any row, those that were refused among them. */
  hasRows: boolean;
  /** Messages that wait. */
  waiting: number;
  /** Those of them that no commit of the session took note of yet, and what the parent said. */
  news: number;
  /** Whether the parent said that it gave a run up. */
  isGivenUp: boolean;
}

/** What a commit decides on, but for the open executions, which the session's snapshot names. */
export interface FoundUnderLock {
  /** Managed by the entity manager. */
  row: AgentSessionRow;
  /** The database's time. */
  now: Date;
  seen: SeenEvent | null;
  inbox: InboxCount;
  /** Pieces of evidence that are news. */
  evidence: number;
  /** Whether anything is frozen or budgeted for the tenant. */
  hasControls: boolean;
  questions: OpenQuestions;
}

interface Row {
  now_ms: string | number;
  inbox_has_rows: boolean;
  inbox_waiting: number;
  inbox_news: number;
  inbox_is_given_up: boolean;
  evidence_count: number;
  has_controls: boolean;
  open_questions: OpenQuestions | null;
  seen_sequence: number | null;
  seen_from: SessionState;
  seen_to: SessionState;
  seen_type: SessionEventType;
  seen_run_id: string | null;
  seen_payload: { event: RecordedEvent; contentDigest: string | null } | null;
}

/**
 * The session, the database's time, and the event id's earlier transition if there is one: one statement, to be sent after the lock.
 *
 * @throws SESSION_NOT_FOUND when the tenant has no such session.
 */
export async function readUnderLock(em: EntityManager, key: SessionKey & { eventId: string }): Promise<FoundUnderLock> {
  const { tenantId, sessionId, eventId } = key;
  const [found] = (await em.execute(
    `select s.*, (extract(epoch from turnlock.turnlock_now()) * 1000)::bigint::text as now_ms,
            t.sequence as seen_sequence, t.from_state as seen_from, t.to_state as seen_to, t.event as seen_type,
            t.run_id as seen_run_id, p.payload as seen_payload, i.inbox_waiting, i.inbox_news, i.inbox_is_given_up,
            exists (select from turnlock.agent_inbox where session_id = s.session_id) as inbox_has_rows,
            (select count(*)::int from ${UNTAKEN_EVIDENCE}) as evidence_count,
            exists (select from turnlock.agent_controls c where c.tenant_id is null or c.tenant_id = s.tenant_id) as has_controls,
            ${OPEN_QUESTIONS} as open_questions
       from turnlock.agent_sessions s
       left join turnlock.agent_transitions t on t.session_id = s.session_id and t.event_id = ?
       left join turnlock.agent_transition_payloads p on p.session_id = t.session_id and p.sequence = t.sequence
      cross join lateral (
        select count(*) filter (where kind = 'message')::int as inbox_waiting,
               count(*) filter (where noted_at is null)::int as inbox_news,
               coalesce(bool_or(kind = 'cancel'), false) as inbox_is_given_up
          from turnlock.agent_inbox where session_id = s.session_id and rejected_at is null) i
      where s.session_id = ? and s.tenant_id = ?`,
    [eventId, sessionId, tenantId],
  )) as [(Row & Record<string, unknown>) | undefined];
  if (found === undefined) throw sessionNotFound(key);
  const { now_ms, seen_sequence, seen_from, seen_to, seen_type, seen_run_id, seen_payload, ...rest } = found;
  const { inbox_has_rows, inbox_waiting, inbox_news, inbox_is_given_up, evidence_count, ...others } = rest;
  const { has_controls: hasControls, open_questions, ...columns } = others;
  const [evidence, questions] = [evidence_count, open_questions ?? {}];
  const inbox = {
    hasRows: inbox_has_rows,
    waiting: inbox_waiting,
    news: inbox_news,
    isGivenUp: inbox_is_given_up,
  };
  const row = em.map(AgentSession, columns);
  const now = new Date(Number(now_ms));
  if (seen_sequence === null) return { row, now, seen: null, inbox, evidence, hasControls, questions };
  const seen: SeenEvent = {
    sequence: seen_sequence,
    from: seen_from,
    to: seen_to,
    type: seen_type,
    runId: seen_run_id,
    event: seen_payload?.event ?? null,
    contentDigest: seen_payload?.contentDigest ?? null,
  };
  return { row, now, seen, inbox, evidence, hasControls, questions };
}

/** The transition that was committed under `eventId`; `null` where none was. */
export async function findSeenEvent(em: EntityManager, key: SessionKey, eventId: string): Promise<SeenEvent | null> {
  const [found] = (await em.execute(
    `select t.sequence, t.from_state as "from", t.to_state as "to", t.event as type, t.run_id as "runId", p.payload
       from turnlock.agent_transitions t
       left join turnlock.agent_transition_payloads p on p.session_id = t.session_id and p.sequence = t.sequence
      where t.session_id = ? and t.event_id = ?`,
    [key.sessionId, eventId],
  )) as (Omit<SeenEvent, 'event' | 'contentDigest'> & { payload: Row['seen_payload'] })[];
  if (found === undefined) return null;
  const { payload, ...seen } = found;
  return { ...seen, event: payload?.event ?? null, contentDigest: payload?.contentDigest ?? null };
}
