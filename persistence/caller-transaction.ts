import { TurnlockError } from '../errors.ts';
import { SESSION_MACHINE_ID, SESSION_MACHINE_VERSION } from '../machines/session.machine.ts';
import { encodeSnapshot, initialSnapshot } from '../machines/snapshot-codec.ts';
import type { CommittedSession } from './committed-session.ts';
import type { NewSession } from './create-session.ts';
import type { NewMessage, WhenBusy } from './inbox.ts';
import type { MemoryOwner, NewMemory } from './memory/new-memory.ts';
import type { SessionKey } from './read-session.ts';
import { toTurnlockError } from './sqlstate.ts';
import { kindOf } from './values/kind-of.ts';

/**
 * A transaction that the caller has open: a client of node-postgres, an EntityManager of MikroORM that is in a transaction, anything that
 * runs SQL with `$1` parameters and answers with rows (`query`; Kysely and Prisma are wrapped so), or what a tag of template literals does
 * (`sql`; Drizzle and postgres.js). Its role needs the rights of `turnlock_client`.
 */
export type CallerTransaction =
  | { query(text: string, values: unknown[]): PromiseLike<{ rows: unknown[] } | unknown[]> }
  | { sql(strings: TemplateStringsArray, ...values: unknown[]): PromiseLike<{ rows: unknown[] } | unknown[]> }
  | { execute(text: string, values: unknown[]): Promise<unknown>; isInTransaction(): boolean };

/** @throws OPTIONS_INVALID for anything else, a pool among it: whatever it runs would not be in a transaction. */
export function checkCallerTransaction(transaction: CallerTransaction): CallerTransaction {
  const found = whyNone(transaction);
  if (found === null) return transaction;
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `transaction not accepted: (found ${found}, wanted a client, an EntityManager in a transaction, { query } or { sql })`,
  });
}

function whyNone(transaction: unknown): string | null {
  if (typeof transaction !== 'object' || transaction === null) return String(transaction);
  const { query, sql, execute, isInTransaction } = transaction as Record<string, unknown>;
  if (typeof isInTransaction === 'function' && typeof execute === 'function') {
    return isInTransaction.call(transaction) ? null : 'an EntityManager outside a transaction';
  }
  if ('totalCount' in transaction) return 'a pool';
  return [query, sql].some((way) => typeof way === 'function') ? null : 'an object without query';
}

/**
 * Inserts a session in the caller's transaction; with an external id that the tenant has used, the session of then. Takes no lock.
 * Returned is a new session as it will be, also where it is an older one: whoever needs more reads it after the commit.
 *
 * @throws EXTERNAL_ID_CONFLICT when that session belongs to another agent or user. PRIVILEGE_MISSING. The caller's transaction is then
 * aborted, as after any error of the database.
 */
export async function createSessionInTransaction(
  transaction: CallerTransaction,
  session: NewSession,
  now: Date,
): Promise<CommittedSession> {
  const { id } = await run(
    transaction,
    `select created_session_id as id from turnlock.create_session(tenant_id => $1, user_id => $2, agent_name => $3, agent_version => $4::int,
       active_model_id => $5, machine_id => $6, machine_version => $7::int, snapshot => $8::pg_catalog.text::pg_catalog.jsonb, external_id => $9,
       metadata => $10::pg_catalog.text::pg_catalog.jsonb, normalised => $11::pg_catalog.text::pg_catalog.jsonb)`,
    [
      session.tenantId,
      session.userId,
      session.agentName,
      session.agentVersion,
      session.modelId,
      SESSION_MACHINE_ID,
      SESSION_MACHINE_VERSION,
      JSON.stringify(encodeSnapshot(initialSnapshot())),
      session.externalId,
      JSON.stringify(session.metadata),
      session.normalised === null ? null : JSON.stringify(session.normalised),
    ],
  );
  const { normalised: _, ...facts } = session;
  return {
    ...facts,
    sessionId: id,
    parent: null,
    forkedFrom: null,
    depth: 0,
    state: 'IDLE',
    version: 0,
    token: 0,
    leaseHolder: null,
    leaseExpiresAt: null,
    recoveries: 0,
    wakeAt: null,
    snapshot: initialSnapshot(),
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * Puts a message into the inbox in the caller's transaction: no lock, no version. Its run begins after the caller's commit.
 *
 * @throws SESSION_NOT_FOUND, SESSION_COMPLETED, MESSAGE_CONFLICT, PRIVILEGE_MISSING. The caller's transaction is then aborted.
 */
export async function enqueueInTransaction(
  transaction: CallerTransaction,
  { tenantId, sessionId }: SessionKey,
  { messageId, runId, content }: NewMessage,
  whenBusy: WhenBusy,
): Promise<{ runId: string; repeated: boolean }> {
  const { text, parts, metadata, normalised } = content;
  const { id, fresh } = await run(
    transaction,
    `select enqueued_run_id as id, is_new as fresh from turnlock.enqueue(tenant_id => $1, session_id => $2::pg_catalog.uuid, message_id => $3, content => $4,
       when_busy => $5, parts => $6::pg_catalog.text::pg_catalog.jsonb, metadata => $7::pg_catalog.text::pg_catalog.jsonb, normalised => $8::pg_catalog.text::pg_catalog.jsonb, run_id => $9::pg_catalog.uuid)`,
    [
      tenantId,
      sessionId,
      messageId,
      text,
      whenBusy,
      JSON.stringify(parts),
      JSON.stringify(metadata),
      normalised === null ? null : JSON.stringify(normalised),
      runId,
    ],
  );
  return { runId: id, repeated: fresh === false };
}

/**
 * Inserts a memory in the caller's transaction, and supersedes what it takes the place of. Nothing is embedded: a vector is owed where any are kept.
 *
 * @throws MEMORY_CONFLICT, MEMORY_NOT_FOUND, OPTIONS_INVALID, PRIVILEGE_MISSING. The caller's transaction is then aborted.
 */
export async function rememberInTransaction(
  transaction: CallerTransaction,
  { tenantId, userId }: MemoryOwner,
  { memoryId, kind, content, language, metadata, normalised, expiresAt, supersedes }: NewMemory,
): Promise<{ memoryId: string; repeated: boolean }> {
  const { id, fresh } = await run(
    transaction,
    `select remembered_id as id, is_new as fresh from turnlock.remember(tenant_id => $1, user_id => $2, kind => $3, content => $4,
       memory_id => $5::pg_catalog.uuid, language => $6, metadata => $7::pg_catalog.text::pg_catalog.jsonb,
       normalised => $8::pg_catalog.text::pg_catalog.jsonb, expires_at => $9::pg_catalog.text::pg_catalog.timestamptz,
       supersedes => $10::pg_catalog.text::pg_catalog.uuid[])`,
    [
      ...[tenantId, userId, kind, content, memoryId, language, JSON.stringify(metadata)],
      normalised === null ? null : JSON.stringify(normalised),
      expiresAt === null ? null : expiresAt.toISOString(),
      `{${supersedes.join(',')}}`,
    ],
  );
  return { memoryId: id, repeated: fresh === false };
}

/** What the statements answer with: names of one small word, which no naming strategy of the caller's changes. */
interface Answer {
  id: string;
  /** Whether the row is new; absent where that is not asked. */
  fresh?: boolean;
}

/** The types of all are qualified: the path is the caller's. JSON goes as a text that is cast: of a parameter that is jsonb itself, some drivers make JSON once more. */
async function run(transaction: CallerTransaction, text: string, values: unknown[]): Promise<Answer> {
  let answer: unknown;
  try {
    answer = await ask(transaction, text, values);
  } catch (error) {
    throw toTurnlockError(error);
  }
  const rows = Array.isArray(answer) ? answer : (answer as { rows?: unknown } | null | undefined)?.rows;
  const row = Array.isArray(rows) && rows.length === 1 ? (rows[0] as Partial<Answer> | null) : null;
  if (typeof row?.id === 'string') return row as Answer;
  // What was inserted cannot be named, so the caller must not commit it.
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `transaction not accepted: its answer to a statement (found ${describe(answer)}, wanted its one row, in an array or under rows)`,
    hint: 'Roll the transaction back. `query` must answer with the rows as the server names their columns.',
  });
}

function describe(answer: unknown): string {
  const rows = Array.isArray(answer) ? answer : (answer as { rows?: unknown } | null | undefined)?.rows;
  if (!Array.isArray(rows)) return kindOf(answer);
  const [first] = rows;
  const columns =
    typeof first === 'object' && first !== null ? ` of ${Object.keys(first).join(', ') || 'no column'}` : '';
  return `${rows.length} rows${columns}`;
}

function ask(transaction: CallerTransaction, text: string, values: unknown[]): PromiseLike<unknown> {
  if ('isInTransaction' in transaction) return transaction.execute(...withQuestionMarks(text, values));
  if ('query' in transaction) return transaction.query(text, values);
  return transaction.sql(asTemplate(text), ...values);
}

/** MikroORM numbers its parameters itself. Each of ours stands once and in order. */
function withQuestionMarks(text: string, values: unknown[]): [string, unknown[]] {
  return [text.replaceAll(/\$\d+/g, '?'), values];
}

/** What a tag is given: the text around the parameters. */
function asTemplate(text: string): TemplateStringsArray {
  const strings = text.split(/\$\d+/);
  return Object.assign(strings, { raw: strings });
}
