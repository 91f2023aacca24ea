import type { EntityManager } from '@mikro-orm/postgresql';
import type { SessionEventType } from '../../machines/session-event.ts';
import type { SessionState } from '../../machines/session-state.ts';
import type { Cause } from '../commit-request.ts';
import type { TransitionPayload } from '../persist-transition.ts';
import type { SessionKey } from '../read-session.ts';

/** A row of `agent_transitions` with its payload: everything that its hash covers, and what its digests are made from. */
export interface AuditRow {
  formatVersion: number;
  sequence: number;
  runId: string | null;
  from: SessionState;
  to: SessionState;
  type: SessionEventType;
  eventId: string;
  cause: Cause;
  token: number;
  createdAt: Date;
  payloadDigest: string;
  turnsDigest: string;
  outcomesDigest: string;
  previousHash: string;
  hash: string;
  /** `null` once it was erased. */
  salt: string | null;
  /** `null` once it was erased. */
  payload: TransitionPayload | null;
  erasedAt: Date | null;
}

/** Which rows of a session are read. */
export interface AuditPage extends SessionKey {
  /** Only those of later sequence. */
  after: number;
  /** Only those up to this sequence. Default: all. */
  upTo?: number;
  /** How many at the most. Default: all. */
  limit?: number;
}

/** The hash that a row of `t` should have: the expression of the insert trigger. */
const HASH = `encode(sha256(convert_to(jsonb_build_array(t.format_version, t.tenant_id, t.session_id, t.sequence, t.run_id,
  t.from_state, t.to_state, t.event, t.event_id, t.cause, t.token, (extract(epoch from t.created_at) * 1000)::bigint,
  t.payload_digest, t.turns_digest, t.outcomes_digest, t.previous_hash)::text, 'UTF8')), 'hex')`;

interface Row {
  format_version: number;
  sequence: number;
  run_id: string | null;
  from_state: SessionState;
  to_state: SessionState;
  event: SessionEventType;
  event_id: string;
  cause: Cause;
  token: number;
  at: string;
  payload_digest: string;
  turns_digest: string;
  outcomes_digest: string;
  previous_hash: string;
  hash: string;
  salt: string | null;
  payload: TransitionPayload | null;
  erased: string | null;
  has_payload: boolean;
  true_hash?: string;
}

/** A row that is to be verified. */
export interface VerifiedRow extends AuditRow {
  /** The hash that its columns come to. */
  trueHash: string;
  /** Whether its payload's row is there, erased or not. */
  hasPayload: boolean;
}

/** Rows by sequence. */
export async function readAuditRows(em: EntityManager, page: AuditPage): Promise<AuditRow[]> {
  return (await select(em, page)).map(toAuditRow);
}

/** The same, each with the hash that its columns come to. */
export async function readVerifiedRows(em: EntityManager, page: AuditPage): Promise<VerifiedRow[]> {
  const rows = await select(em, page, `, ${HASH} as true_hash`);
  return rows.map((row) => ({ ...toAuditRow(row), trueHash: row.true_hash ?? '', hasPayload: row.has_payload }));
}

async function select(em: EntityManager, page: AuditPage, more = ''): Promise<Row[]> {
  const { tenantId, sessionId, after, upTo = null, limit = null } = page;
  return (await em.execute(
    `select t.format_version, t.sequence, t.run_id, t.from_state, t.to_state, t.event, t.event_id, t.cause, t.token,
            (extract(epoch from t.created_at) * 1000)::bigint::text as at, t.payload_digest, t.turns_digest, t.outcomes_digest,
            t.previous_hash, t.hash, p.salt, p.payload, (extract(epoch from p.erased_at) * 1000)::bigint::text as erased,
            p.sequence is not null as has_payload${more}
       from turnlock.agent_transitions t
       left join turnlock.agent_transition_payloads p on p.session_id = t.session_id and p.sequence = t.sequence
      where t.tenant_id = ? and t.session_id = ? and t.sequence > ? and (?::int is null or t.sequence <= ?::int)
      order by t.sequence limit ?::int`,
    [tenantId, sessionId, after, upTo, upTo, limit],
  )) as Row[];
}

function toAuditRow(row: Row): AuditRow {
  return {
    formatVersion: row.format_version,
    sequence: row.sequence,
    runId: row.run_id,
    from: row.from_state,
    to: row.to_state,
    type: row.event,
    eventId: row.event_id,
    cause: row.cause,
    token: row.token,
    createdAt: new Date(Number(row.at)),
    payloadDigest: row.payload_digest,
    turnsDigest: row.turns_digest,
    outcomesDigest: row.outcomes_digest,
    previousHash: row.previous_hash,
    hash: row.hash,
    salt: row.salt,
    payload: row.payload,
    erasedAt: row.erased === null ? null : new Date(Number(row.erased)),
  };
}
