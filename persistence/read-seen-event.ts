import type { EntityManager } from '@mikro-orm/postgresql';
import type { RecordedEvent, SessionEventType } from '../machines/session-event.ts';
import type { SessionState } from '../machines/session-state.ts';
import type { SessionKey } from './read-session.ts';

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

interface SeenRow {
  now: string | number;
  sequence: number | null;
  from_state: SessionState;
  to_state: SessionState;
  event: SessionEventType;
  run_id: string | null;
  payload: { event: RecordedEvent; contentDigest: string | null } | null;
}

/** The database's time as milliseconds, and the event id's earlier transition if there is one: one statement, after the lock. */
export async function readSeenEvent(
  em: EntityManager,
  { sessionId, eventId }: SessionKey & { eventId: string },
): Promise<{ now: Date; seen: SeenEvent | null }> {
  const [row] = (await em.execute(
    `select (extract(epoch from turnlock.turnlock_now()) * 1000)::bigint::text as now,
            t.sequence, t.from_state, t.to_state, t.event, t.run_id, p.payload
       from (select 1) one
       left join turnlock.agent_transitions t on t.session_id = ? and t.event_id = ?
       left join turnlock.agent_transition_payloads p on p.session_id = t.session_id and p.sequence = t.sequence`,
    [sessionId, eventId],
  )) as [SeenRow];
  const now = new Date(Number(row.now));
  if (row.sequence === null) return { now, seen: null };
  const seen: SeenEvent = {
    sequence: row.sequence,
    from: row.from_state,
    to: row.to_state,
    type: row.event,
    runId: row.run_id,
    event: row.payload?.event ?? null,
    contentDigest: row.payload?.contentDigest ?? null,
  };
  return { now, seen };
}
