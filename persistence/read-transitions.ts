import type { RecordedEvent, SessionEventType } from '../machines/session-event.ts';
import type { SessionState } from '../machines/session-state.ts';
import type { Cause } from './commit-request.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** A transition as the audit holds it. */
export interface StoredTransition {
  sequence: number;
  from: SessionState;
  to: SessionState;
  type: SessionEventType;
  eventId: string;
  /** The event without its contents; `null` once its payload was erased. */
  event: RecordedEvent | null;
  runId: string | null;
  cause: Cause;
  token: number;
  createdAt: Date;
  hash: string;
}

interface TransitionRow {
  sequence: number;
  from_state: SessionState;
  to_state: SessionState;
  event: SessionEventType;
  event_id: string;
  run_id: string | null;
  cause: Cause;
  token: number;
  at: string;
  hash: string;
  payload: { event: RecordedEvent } | null;
}

/** Every transition of a session, by sequence. */
export async function readTransitions(store: Store, { tenantId, sessionId }: SessionKey): Promise<StoredTransition[]> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      `select t.sequence, t.from_state, t.to_state, t.event, t.event_id, t.run_id, t.cause, t.token, t.hash, p.payload,
              (extract(epoch from t.created_at) * 1000)::bigint::text as at
         from turnlock.agent_transitions t
         left join turnlock.agent_transition_payloads p on p.session_id = t.session_id and p.sequence = t.sequence
        where t.session_id = ? order by t.sequence`,
      [sessionId],
    )) as TransitionRow[];
    return rows.map((row) => ({
      sequence: row.sequence,
      from: row.from_state,
      to: row.to_state,
      type: row.event,
      eventId: row.event_id,
      event: row.payload?.event ?? null,
      runId: row.run_id,
      cause: row.cause,
      token: row.token,
      createdAt: new Date(Number(row.at)),
      hash: row.hash,
    }));
  });
}
