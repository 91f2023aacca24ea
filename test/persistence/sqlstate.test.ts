import { readdirSync, readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type ErrorCode, isTurnlockError, TurnlockError } from '../../errors.ts';
import { SCHEMA_REFUSALS } from '../../persistence/schema-refusals.ts';
import { toTurnlockError } from '../../persistence/sqlstate.ts';

const SECRET = 'sk_live_1';
const MIGRATION = new URL('../../migrations/initial/', import.meta.url);

/** An error as pg makes it, with secrets wherever the server may put rows or statements. */
function databaseError(code: string, fields: object = {}): Error {
  return Object.assign(new Error(`something about ${SECRET}`), {
    name: 'error',
    severity: 'ERROR',
    code,
    detail: `Key (token)=(${SECRET}) already exists.`,
    where: `SQL statement "… ${SECRET}"`,
    hint: SECRET,
    query: `insert … ${SECRET}`,
    params: [SECRET],
    ...fields,
  });
}

function translated(error: unknown): TurnlockError {
  const result = toTurnlockError(error);
  if (isTurnlockError(result)) return result;
  throw new Error('was not translated', { cause: result });
}

describe('toTurnlockError by SQLSTATE', () => {
  test.each<[string, ErrorCode]>([
    ['08000', 'DATABASE_UNREACHABLE'],
    ['08006', 'DATABASE_UNREACHABLE'],
    ['08P01', 'DATABASE_UNREACHABLE'],
    ['08007', 'COMMIT_UNKNOWN'],
    ['40003', 'COMMIT_UNKNOWN'],
    ['40001', 'DATABASE_TRANSIENT'],
    ['40P01', 'DATABASE_TRANSIENT'],
    ['55P03', 'DATABASE_TRANSIENT'],
    ['57014', 'DATABASE_TRANSIENT'],
    ['57P01', 'DATABASE_TRANSIENT'],
    ['57P02', 'DATABASE_TRANSIENT'],
    ['57P03', 'DATABASE_TRANSIENT'],
    ['57P05', 'DATABASE_TRANSIENT'],
    ['25P03', 'DATABASE_TRANSIENT'],
    ['25P04', 'DATABASE_TRANSIENT'],
    ['25006', 'DATABASE_TRANSIENT'],
    ['53100', 'DATABASE_TRANSIENT'],
    ['53200', 'DATABASE_TRANSIENT'],
    ['53300', 'DATABASE_TRANSIENT'],
    ['58030', 'DATABASE_TRANSIENT'],
    ['28000', 'DATABASE_LOGIN_REFUSED'],
    ['28P01', 'DATABASE_LOGIN_REFUSED'],
    ['3D000', 'DATABASE_LOGIN_REFUSED'],
    ['57P04', 'DATABASE_LOGIN_REFUSED'],
    ['42501', 'PRIVILEGE_MISSING'],
    ['42P01', 'SCHEMA_MISSING'],
    ['3F000', 'SCHEMA_MISSING'],
    ['42703', 'SCHEMA_OUTDATED'],
    ['42883', 'SCHEMA_OUTDATED'],
    ['23505', 'DATABASE_REFUSED'],
    ['23503', 'DATABASE_REFUSED'],
    ['23502', 'DATABASE_REFUSED'],
    ['23514', 'DATABASE_REFUSED'],
    ['22P05', 'INVARIANT_BROKEN'],
    ['22021', 'INVARIANT_BROKEN'],
    ['22001', 'INVARIANT_BROKEN'],
    ['22P02', 'DATABASE_FAILED'],
    ['42601', 'DATABASE_FAILED'],
    ['25P02', 'OPTIONS_INVALID'],
    ['P0001', 'DATABASE_FAILED'],
    ['XX000', 'DATABASE_FAILED'],
  ])('%s is %s, and nothing of statement or row gets through', (sqlState, code) => {
    const error = translated(databaseError(sqlState, { table: 'agent_turns', constraint: 'some_check', routine: 'f' }));
    expect(error).toMatchObject({
      code,
      message: expect.stringContaining(
        `constraint some_check of table agent_turns (found SQLSTATE ${sqlState}, wanted`,
      ),
      details: { sqlState, constraint: 'some_check', table: 'agent_turns', routine: 'f' },
    });
    expect(error.cause).toBeUndefined();
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET);
    expect(JSON.stringify(error)).not.toContain(SECRET);
  });

  test.each<[string, ErrorCode]>([
    ['uq_session_external_id', 'EXTERNAL_ID_CONFLICT'],
    ['idx_tool_idempotency', 'KEY_CONFLICT'],
    ['agent_transitions_pkey', 'VERSION_CONFLICT'],
    ['uq_transition_event', 'VERSION_CONFLICT'],
    ['uq_session_turn_index', 'VERSION_CONFLICT'],
    ['uq_turn_call', 'VERSION_CONFLICT'],
    ['uq_inbox_message', 'VERSION_CONFLICT'],
    ['uq_approval_round', 'VERSION_CONFLICT'],
    ['agent_idempotency_claims_pkey', 'VERSION_CONFLICT'],
    ['uq_of_somebody', 'DATABASE_REFUSED'],
    ['constructor', 'DATABASE_REFUSED'],
  ])('23505 of %s is %s', (constraint, code) => {
    expect(translated(databaseError('23505', { constraint })).code).toBe(code);
  });

  test('constraints that are named here exist in the schema', () => {
    const migration = readdirSync(MIGRATION)
      .map((file) => readFileSync(new URL(file, MIGRATION), 'utf8'))
      .join('\n');
    const named = readFileSync(new URL('../../persistence/sqlstate.ts', import.meta.url), 'utf8').matchAll(
      /\['(\w+)', '\w+_CONFLICT'\]/g,
    );
    for (const [, constraint] of named) expect(migration).toContain(`CONSTRAINT ${constraint} `);
    expect.hasAssertions();
  });

  test('a row that row-level security refuses is no missing privilege', () => {
    expect(translated(databaseError('42501', { routine: 'ExecWithCheckOptions' })).code).toBe('DATABASE_REFUSED');
  });

  test('without names it says so all the same', () => {
    expect(translated(databaseError('40001')).message).toBe(
      'transaction was rolled back: database (found SQLSTATE 40001, wanted no conflict with another one).',
    );
  });
});

describe('refusals of our own schema', () => {
  const OWN: Partial<Record<keyof typeof SCHEMA_REFUSALS, ErrorCode>> = {
    TL050: 'SESSION_COMPLETED',
    TL060: 'OPTIONS_INVALID',
    TL061: 'SESSION_NOT_FOUND',
    TL062: 'EXTERNAL_ID_CONFLICT',
    TL063: 'MESSAGE_CONFLICT',
    TL064: 'MEMORY_CONFLICT',
    TL065: 'MEMORY_NOT_FOUND',
    TL066: 'MEMORY_CONFLICT',
    TL080: 'SESSION_NOT_FOUND',
    TL082: 'OPTIONS_INVALID',
  };

  test.each(Object.entries(SCHEMA_REFUSALS))('%s names what was refused and why', (sqlState, { name, meaning }) => {
    const raised = databaseError(sqlState, {
      message: 'session s1 may not',
      constraint: name,
      table: 'agent_sessions',
    });
    const error = translated(Object.assign(raised, { message: `session s1 may not\n - detail: ${SECRET}` }));
    expect(error).toMatchObject({
      code: OWN[sqlState as keyof typeof SCHEMA_REFUSALS] ?? 'DATABASE_REFUSED',
      message: expect.stringContaining(
        `constraint ${name} of table agent_sessions (found session s1 may not, SQLSTATE ${sqlState}`,
      ),
      details: { sqlState, constraint: name, meaning },
    });
    expect(inspect(error)).not.toContain(SECRET);
  });

  test('one of a newer schema is a refusal too', () => {
    expect(translated(databaseError('TL999')).code).toBe('DATABASE_REFUSED');
  });
});

describe('the way to the database', () => {
  test.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'ECONNABORTED',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EPIPE',
  ])('%s is DATABASE_UNREACHABLE', (code) => {
    const error = Object.assign(new Error(`connect ${code} ${SECRET}`), { code, syscall: 'connect', address: SECRET });
    expect(translated(error)).toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      retryable: true,
      details: { reason: code },
    });
    expect(inspect(translated(error))).not.toContain(SECRET);
  });

  test('a socket file that is missing is, any other missing file is not', () => {
    const error = Object.assign(new Error('x'), { code: 'ENOENT' });
    expect(toTurnlockError(error)).toBe(error);
    expect(translated(Object.assign(error, { syscall: 'connect' })).code).toBe('DATABASE_UNREACHABLE');
  });

  test.each([
    'Connection terminated unexpectedly',
    'Connection terminated',
    'Connection terminated due to connection timeout',
    'timeout expired',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
    'Cannot use a pool after calling end on the pool',
    'PGlite is closed',
  ])('"%s" has no code and is DATABASE_UNREACHABLE', (message) => {
    expect(translated(new Error(message))).toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      details: { reason: message },
    });
  });

  test.each<[Error, string]>([
    [new Error(`SASL: SCRAM-SERVER-FIRST-MESSAGE: client password ${SECRET}`), 'SASL: SCRAM-SERVER-FIRST-MESSAGE'],
    [new Error('The server does not support SSL connections'), 'The server does not support SSL connections'],
    [Object.assign(new Error(SECRET), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }), 'SELF_SIGNED_CERT_IN_CHAIN'],
    [Object.assign(new Error(SECRET), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('%s is a refused login', (error, reason) => {
    expect(translated(error)).toMatchObject({ code: 'DATABASE_LOGIN_REFUSED', retryable: false, details: { reason } });
    expect(inspect(translated(error))).not.toContain(SECRET);
  });

  test('an AggregateError of several addresses', () => {
    const parts = ['::1', '127.0.0.1'].map((address) => Object.assign(new Error(address), { code: 'ECONNREFUSED' }));
    const error = Object.assign(new AggregateError(parts), { code: 'ECONNREFUSED' });
    expect(translated(error).code).toBe('DATABASE_UNREACHABLE');
  });
});

describe('the unit of work', () => {
  test('another version in the row is a conflict', () => {
    const error = Object.assign(new Error(SECRET), { name: 'OptimisticLockError', entity: { token: SECRET } });
    expect(translated(error)).toMatchObject({ code: 'VERSION_CONFLICT', retryable: true });
    expect(inspect(translated(error))).not.toContain(SECRET);
  });

  test('an entity that it refuses is a bug', () => {
    const error = Object.assign(new Error(SECRET), { name: 'ValidationError', entity: { token: SECRET } });
    expect(translated(error).code).toBe('INVARIANT_BROKEN');
    expect(inspect(translated(error))).not.toContain(SECRET);
  });

  test('a driver error without SQLSTATE is not passed through', () => {
    const error = Object.assign(new Error(SECRET), { name: 'DriverException' });
    expect(translated(error).code).toBe('DATABASE_FAILED');
    expect(inspect(translated(error))).not.toContain(SECRET);
  });
});

describe('what is wrapped', () => {
  test('is found through causes', () => {
    const wrapped = new Error('outer', { cause: new Error('middle', { cause: databaseError('40001') }) });
    expect(translated(wrapped).code).toBe('DATABASE_TRANSIENT');
    expect(translated(wrapped).details.sqlState).toBe('40001');
  });

  test('a cause that is its own cause ends', () => {
    const error = new Error('x');
    error.cause = error;
    expect(toTurnlockError(error)).toBe(error);
  });
});

describe('what is not the database’s', () => {
  test.each([
    null,
    undefined,
    'text',
    7,
    {},
    new Error('x'),
    new TypeError('x is not a function'),
    Object.assign(new Error('x'), { code: 'EPERM' }),
    Object.assign(new Error('x'), { code: 'EBUSY' }),
    Object.assign(new Error('x'), { code: 'E_PAY' }),
    Object.assign(new Error('x'), { code: 40001 }),
    Object.assign(new Error('x'), { name: 'ValidationError' }),
    Object.assign(new Error('x'), { name: 'AbortError', code: 'ABORT_ERR' }),
  ])('is returned as it is: %s', (error) => {
    expect(toTurnlockError(error)).toBe(error);
  });

  test('an error of ours stays the same object', () => {
    const error = new TurnlockError('SESSION_BUSY', { message: 'no' });
    expect(toTurnlockError(error)).toBe(error);
  });
});
