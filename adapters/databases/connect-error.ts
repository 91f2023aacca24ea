import type { Pool, PoolConfig } from 'pg';
import { TurnlockError } from '../../errors.ts';
import { serverAddress } from './server-address.ts';

/** Invalid authorization, no such database, no right to connect, PgBouncer's refusal of user or database; options that it does not take. */
const REFUSED_STATES = /^(?:28...|3D000|42501|08P01|42704|22023)$/;

const REFUSED_OPTIONS = /^(?:42704|22023)$/;

const TLS_CODES = /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/** What node-postgres says, without a code, of a login that fails on our side. */
const REFUSED_SENTENCES = /^(?:SASL: |The server does not support SSL|There was an error establishing an SSL)/;

/** The error of a connection that could not be made. Where it was to go is named; user names, passwords and URLs are not. */
export function connectError({ options }: Pick<Pool, 'options'>, error: unknown): TurnlockError {
  const { code, message } = facts(error);
  const address = serverAddress(options as PoolConfig);
  const reason = /^[A-Z0-9_]{3,}$/.test(code) ? code : (/^(?:SASL: [\w-]+|[\w ]+)/.exec(message)?.[0] ?? 'an error');
  if (REFUSED_STATES.test(code) || TLS_CODES.test(code) || REFUSED_SENTENCES.test(message)) {
    return new TurnlockError('DATABASE_LOGIN_REFUSED', {
      message: `database refused the login: ${address} (found ${LOGIN_REASONS[code] ?? reason}, wanted a role and a database that it knows)`,
      ...(REFUSED_OPTIONS.test(code) ? { hint: 'Check `options` and the other parameters of the connection.' } : {}),
      details: { address, reason },
    });
  }
  return new TurnlockError('DATABASE_UNREACHABLE', {
    message: `database cannot be reached: ${address} (found ${reason}, wanted a connection)`,
    details: { address, reason },
  });
}

/** The error of a pool, or of a PGlite, that its owner ended while a runtime uses it. Trying again cannot help. */
export function endedByOwner(what: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `database was ended by its owner: ${what} (wanted it open until the runtime is closed)`,
    hint: 'Close the runtime before what was handed to it, or create a runtime with one that is open.',
  });
}

/** The error of a pool whose connections are all out, or of a server that does not answer. */
export function noConnectionInTime(pool: Pool, connectTimeoutMs: number): TurnlockError {
  const address = serverAddress(pool.options as PoolConfig);
  const { totalCount, idleCount, waitingCount } = pool;
  return new TurnlockError('DATABASE_UNREACHABLE', {
    message: `no connection in time: ${address} (found none for ${connectTimeoutMs} ms, wanted one of ${totalCount})`,
    hint: 'Check that the server runs; raise the size of the pool, or give back what is taken from it.',
    details: { address, connectTimeoutMs, totalCount, idleCount, waitingCount },
  });
}

const LOGIN_REASONS: Readonly<Record<string, string>> = {
  '28P01': 'SQLSTATE 28P01, wrong password',
  '28000': 'SQLSTATE 28000, no such role or no entry in pg_hba.conf',
  '3D000': 'SQLSTATE 3D000, no such database',
  '42501': 'SQLSTATE 42501, no right to connect',
  '42704': 'SQLSTATE 42704, an option that the server does not know',
  '22023': 'SQLSTATE 22023, an option with a value that the server does not take',
};

function facts(error: unknown): { code: string; message: string } {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return { code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : '' };
}
