import type { RecordedEvent, SessionEventType } from '../machines/session-event.ts';
import type { SessionState } from '../machines/session-state.ts';
import { type AuditRow, readAuditRows } from './audit/read-audit-rows.ts';
import type { Cause } from './commit-request.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** A transition as the audit holds it. What stands in its payload is `null`, or empty, once that was erased. */
export interface StoredTransition {
  sequence: number;
  from: SessionState;
  to: SessionState;
  type: SessionEventType;
  eventId: string;
  /** The event without its contents; `null` once its payload was erased. */
  event: RecordedEvent | null;
  runId: string | null;
  /** Who caused it: a message or a cancel of the user, a worker, or a person beside the conversation. */
  cause: Cause;
  /** Who exactly, where a call names somebody: who decided, settled, cancelled, retried, completed or forked. */
  by: string | null;
  /** The worker that committed it, under its lease; `null` where it needed none. */
  holder: string | null;
  /** The caller's id of the message that caused it; `null` where it has none, or none did. */
  messageId: string | null;
  token: number;
  /** The turns that it wrote. */
  turnIndexes: number[];
  /** The executions that it settled. */
  settled: string[];
  createdAt: Date;
  /** The hash of the transition before; of the first one, that of what the session began with. */
  previousHash: string;
  hash: string;
}

/** Which transitions are read. */
export interface TransitionsQuery {
  /** Only those of later sequence. Default 0: from the first one on. */
  after?: number;
  /** How many at the most. Default: all. */
  limit?: number;
}

/** Transitions of a session, by sequence. */
export async function readTransitions(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  { after = 0, limit }: TransitionsQuery = {},
): Promise<StoredTransition[]> {
  const page = { tenantId, sessionId, after, ...(limit === undefined ? {} : { limit }) };
  const rows = await inPatientTransaction(store, { tenantId }, (em) => readAuditRows(em, page));
  return rows.map(toTransition);
}

/** A row of the audit as its readers see it. */
export function toTransition(row: AuditRow): StoredTransition {
  const { sequence, from, to, type, eventId, runId, cause, token, createdAt, previousHash, hash, payload } = row;
  const { by } = (payload?.event ?? {}) as { by?: unknown };
  return {
    sequence,
    from,
    to,
    type,
    eventId,
    event: payload?.event ?? null,
    runId,
    cause,
    by: typeof by === 'string' ? by : null,
    holder: payload?.holder ?? null,
    messageId: payload?.messageId ?? null,
    token,
    turnIndexes: payload?.turns ?? [],
    settled: payload?.outcomes ?? [],
    createdAt,
    previousHash,
    hash,
  };
}
