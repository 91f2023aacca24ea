import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { connectError } from '../../adapters/databases/connect-error.ts';
import { connectionConfig } from '../../adapters/databases/connection-config.ts';
import { TidyClient } from '../../adapters/databases/tidy-client.ts';
import { TurnlockError } from '../../errors.ts';
import { toTurnlockError } from '../../persistence/sqlstate.ts';

/** What every database of the kit is called, before its random part. */
const PREFIX = 'turnlock_kit_';

const ABOUT = { name: 'the option database: { url }', wanted: 'a URL of PostgreSQL' };

/** Milliseconds for which a server may be silent before it counts as away. */
export const CONNECT_MS = 10_000;

/** A new and empty database on a server. */
export interface OwnDatabase {
  readonly name: string;
  /** Ends every connection to it, and removes it. */
  drop(): Promise<void>;
}

/**
 * Makes a database of its own on the server that `url` leads to.
 *
 * @throws OPTIONS_INVALID for a `url` that is none, DATABASE_UNREACHABLE and DATABASE_LOGIN_REFUSED where there is no server of use,
 * PRIVILEGE_MISSING for a role that may not create databases. None of them has a password in it.
 */
export async function databaseOfItsOwn(url: string): Promise<OwnDatabase> {
  connectionConfig(url, ABOUT);
  const name = `${PREFIX}${randomUUID().replaceAll('-', '')}`;
  await onServer(url, `CREATE DATABASE ${name} TEMPLATE template0`);
  return { name, drop: () => onServer(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function onServer(url: string, statement: string): Promise<void> {
  const options = { connectionString: url, application_name: 'turnlock-kit', connectionTimeoutMillis: CONNECT_MS };
  const client = new TidyClient(options);
  client.on('error', () => undefined);
  try {
    await new Promise<void>((resolve, reject) => {
      client.connect((error: Error | null) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    throw connectError({ options } as Pick<pg.Pool, 'options'>, error);
  }
  try {
    await client.query(statement);
  } catch (error) {
    if ((error as { code?: unknown }).code === '42501') throw mayNotCreate();
    throw toTurnlockError(error);
  } finally {
    await farewell(client);
  }
}

/** Ends a connection, which keeps no process alive any more. Whoever waits for that must be kept alive, though not by a server gone silent. */
async function farewell(client: TidyClient): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CONNECT_MS);
  });
  await Promise.race([client.end(), late]);
  clearTimeout(timer);
}

function mayNotCreate(): TurnlockError {
  return new TurnlockError('PRIVILEGE_MISSING', {
    message: 'privilege is missing: CREATE DATABASE (found SQLSTATE 42501, wanted a role that may create databases)',
    hint: 'ALTER ROLE … CREATEDB, or name another role in the URL.',
  });
}
