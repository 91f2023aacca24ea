import { type ErrorCode, isTurnlockError, TurnlockError } from '../errors.ts';
import { type DatabaseErrorFacts, readDatabaseError } from './database-error-facts.ts';
import { isSchemaRefusal, SCHEMA_REFUSALS } from './schema-refusals.ts';

interface Meaning {
  sqlState: RegExp;
  code: ErrorCode;
  happened: string;
  wanted: string;
  /** In place of the code's own. */
  hint: string | undefined;
}

/** What a SQLSTATE means to us. The first entry whose pattern matches counts. Source: PostgreSQL's manual, appendix A. */
const MEANINGS: readonly Meaning[] = [
  // Of the refusals of our own schema (SCHEMA_REFUSALS) those that the caller can act upon, then all others.
  refusal('TL050', 'SESSION_COMPLETED', 'session is completed', 'one that takes messages'),
  refusal('TL060', 'OPTIONS_INVALID', 'argument not accepted', 'what the function documents'),
  refusal('TL061', 'SESSION_NOT_FOUND', 'session not found', 'one of this tenant'),
  refusal('TL062', 'EXTERNAL_ID_CONFLICT', 'external id is taken', 'the same agent and user'),
  refusal('TL063', 'MESSAGE_CONFLICT', 'message id was used for other content', 'the same content'),
  refusal('TL064', 'MEMORY_CONFLICT', 'memory id was used for other content', 'the same content'),
  refusal('TL065', 'MEMORY_NOT_FOUND', 'memory not found', 'one of this user'),
  refusal('TL066', 'MEMORY_CONFLICT', 'memory was superseded before', 'one that counts'),
  refusal('TL080', 'SESSION_NOT_FOUND', 'session not found', 'one of this user'),
  refusal('TL082', 'OPTIONS_INVALID', 'language not accepted', 'a text search configuration of the database'),
  refusal('TL...', 'DATABASE_REFUSED', 'database refused an illegal change', 'what its triggers allow'),

  // 08007 and 40003 say that nobody knows; the rest of class 08 is a lost connection.
  refusal('08007|40003', 'COMMIT_UNKNOWN', 'commit has no answer', 'an answer'),
  refusal('08...', 'DATABASE_UNREACHABLE', 'connection to the database was lost', 'a working connection'),
  // 40001 serialization failure, 40P01 deadlock.
  refusal('40...', 'DATABASE_TRANSIENT', 'transaction was rolled back', 'no conflict with another one'),
  // lock_not_available (lock_timeout), object_in_use.
  refusal('55P03|55006', 'DATABASE_TRANSIENT', 'lock was not granted in time', 'a free lock'),
  // query_canceled (statement_timeout, or an operator).
  refusal('57014', 'DATABASE_TRANSIENT', 'statement was cancelled', 'an answer in time'),
  // admin, crash shutdown, starting up, idle session, idle in transaction, transaction time-out.
  refusal('57P0[1235]|25P0[34]', 'DATABASE_TRANSIENT', 'database ended the session', 'a server that stays up'),
  // read_only_sql_transaction: what a standby answers in the middle of a failover.
  refusal('25006', 'DATABASE_TRANSIENT', 'database is read-only', 'the primary server'),
  // in_failed_sql_transaction: of a transaction of the caller's, since ours end with the error that failed them.
  refusal('25P02', 'OPTIONS_INVALID', 'transaction was aborted before', 'one in which no statement has failed', {
    hint: 'A statement before this one failed in your transaction: roll it back, and look at the error of that statement.',
  }),
  // Out of disk, memory, connections; system and I/O errors.
  refusal('53...', 'DATABASE_TRANSIENT', 'database is out of a resource', 'disk, memory and connections'),
  refusal('58...', 'DATABASE_TRANSIENT', 'database had a system error', 'a healthy server'),

  refusal('28...', 'DATABASE_LOGIN_REFUSED', 'database refused the login', 'a role that may log in'),
  refusal('3D000|57P04', 'DATABASE_LOGIN_REFUSED', 'database does not exist', 'the name of one that does'),
  refusal('42501', 'PRIVILEGE_MISSING', 'privilege is missing', 'a role that was granted the schema'),
  refusal('42P01|3F000', 'SCHEMA_MISSING', 'schema is missing', 'the migrated tables'),
  refusal('42703|42704|42883', 'SCHEMA_OUTDATED', 'schema is older than this build', 'what the last migration makes'),

  refusal('23505', 'DATABASE_REFUSED', 'row exists already', 'one of its kind'),
  refusal('23...', 'DATABASE_REFUSED', 'database refused a row', 'one that keeps the constraint'),
  // Text that the choke point for values lets through by mistake: untranslatable characters, too long for its column.
  refusal('22021|22P05|22001', 'INVARIANT_BROKEN', 'value reached the database unchecked', 'a normalised one'),
];

/** Unique constraints that two writers can meet, by name. After a VERSION_CONFLICT, reading again tells a repeat from a conflict. */
const UNIQUE_CONSTRAINTS: ReadonlyMap<string | undefined, ErrorCode> = new Map([
  ['uq_session_external_id', 'EXTERNAL_ID_CONFLICT'],
  ['idx_tool_idempotency', 'KEY_CONFLICT'],
  ['agent_transitions_pkey', 'VERSION_CONFLICT'],
  ['uq_transition_event', 'VERSION_CONFLICT'],
  ['uq_session_turn_index', 'VERSION_CONFLICT'],
  ['uq_turn_call', 'VERSION_CONFLICT'],
  ['uq_inbox_message', 'VERSION_CONFLICT'],
  ['uq_approval_round', 'VERSION_CONFLICT'],
  ['agent_idempotency_claims_pkey', 'VERSION_CONFLICT'],
]);

/**
 * `error` as a {@link TurnlockError} where it comes from the database or from the way to it; anything else, for example what a tool
 * threw, is returned as it is. Drivers put statements, parameters and rows into their errors: none of that gets through, nor does the
 * error itself as a cause. What is kept, in `details`, are SQLSTATE, the names of constraint, table and
 * routine, and what a refusal of our own schema means. What became of a COMMIT without an answer is the dialect's to say.
 */
export function toTurnlockError(error: unknown): unknown {
  if (isTurnlockError(error)) return error;
  const facts = readDatabaseError(error);
  if (facts === null) return error;
  if (facts.optimisticLock)
    return make('VERSION_CONFLICT', 'row was changed by another writer', 'its last version', facts);
  if (facts.ormMisuse)
    return make('INVARIANT_BROKEN', 'entity was refused before it was written', 'a valid one', facts);
  if (facts.sqlState !== undefined) return fromSqlState(facts, facts.sqlState);
  if (facts.noLogin) {
    return make('DATABASE_LOGIN_REFUSED', 'database refused the login', 'credentials and TLS that it accepts', facts);
  }
  if (facts.noConnection)
    return make('DATABASE_UNREACHABLE', 'database cannot be reached', 'a working connection', facts);
  return make('DATABASE_FAILED', 'database driver failed', 'an answer', facts);
}

function fromSqlState(facts: DatabaseErrorFacts, sqlState: string): TurnlockError {
  if (sqlState === '42501' && facts.rowLevelSecurity) {
    return make('DATABASE_REFUSED', 'database refused a row of another tenant', 'rows of the present tenant', facts);
  }
  const meaning = MEANINGS.find((entry) => entry.sqlState.test(sqlState));
  if (meaning === undefined) return make('DATABASE_FAILED', 'database answered with an error', 'none', facts);
  const { code, happened, wanted, hint } = meaning;
  const byConstraint = sqlState === '23505' ? UNIQUE_CONSTRAINTS.get(facts.constraint) : undefined;
  return make(byConstraint ?? code, happened, wanted, { ...facts, hint });
}

function make(
  code: ErrorCode,
  happened: string,
  wanted: string,
  facts: DatabaseErrorFacts & { hint?: string | undefined },
): TurnlockError {
  const { hint, sqlState, constraint, table, routine, reason, says } = facts;
  const place = [constraint && `constraint ${constraint}`, table && `table ${table}`].filter(Boolean).join(' of ');
  const meaning = isSchemaRefusal(sqlState) ? SCHEMA_REFUSALS[sqlState].meaning : undefined;
  const found = [says, sqlState && `SQLSTATE ${sqlState}`, reason].filter(Boolean).join(', ');
  return new TurnlockError(code, {
    message: `${happened}: ${place || 'database'} (found ${found || 'no SQLSTATE'}, wanted ${wanted})`,
    ...(hint === undefined ? {} : { hint }),
    details: Object.fromEntries(
      Object.entries({ sqlState, constraint, table, routine, reason, meaning }).filter(
        ([, value]) => value !== undefined,
      ),
    ),
  });
}

function refusal(
  sqlStates: string,
  code: ErrorCode,
  happened: string,
  wanted: string,
  { hint }: { hint?: string } = {},
): Meaning {
  return { sqlState: new RegExp(`^(${sqlStates})$`), code, happened, wanted, hint };
}
