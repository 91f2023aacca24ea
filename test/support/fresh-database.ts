import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { atTestEnd } from './at-test-end.ts';
import { databasePrefix, urlOfDatabase } from './database-names.ts';
import { leakedConnections } from './leaks.ts';
import { templateDatabase } from './template-database.ts';
import { withClient } from './with-client.ts';

/** A database of one test's own. */
export interface FreshDatabase {
  readonly name: string;
  /** Superuser's URL of it. */
  readonly url: string;
  /** Checks for left-open connections, then drops it. Called at the test's end by itself; repeating it does nothing. */
  drop(): Promise<void>;
}

/** What the new database holds. */
export interface FreshDatabaseOptions {
  /** `migrated`: a clone of the run's template (default). `empty`: nothing, for the tests of migrations themselves. */
  readonly state?: 'migrated' | 'empty';
  /** Connections may stay open at the end, for tests that let a zombie keep one. Default false: a leak fails the test. */
  readonly toleratesOpenConnections?: boolean;
}

/**
 * Makes a database for the current test (or, called in `beforeAll`, for the file) and drops it at the end, whatever the
 * result. The test fails when it leaves a connection to it open.
 */
export async function freshDatabase(options: FreshDatabaseOptions = {}): Promise<FreshDatabase> {
  const serverUrl = inject('postgresUrl');
  const name = databasePrefix(inject('runId')) + randomBytes(5).toString('hex');
  await withClient(serverUrl, async (client) => {
    const template = options.state === 'empty' ? 'template0' : await templateDatabase(client);
    await client.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`);
  });
  let isDropped = false;
  async function drop(): Promise<void> {
    if (isDropped) return;
    isDropped = true;
    const leaks = options.toleratesOpenConnections ? [] : await leakedConnections(serverUrl, name);
    await withClient(serverUrl, (client) => client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`));
    if (leaks.length > 0)
      throw new Error(`the test left connections open: ${leaks.join('; ')}. Close pools and clients.`);
  }
  atTestEnd(drop);
  return { name, url: urlOfDatabase(serverUrl, name), drop };
}
