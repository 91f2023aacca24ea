import type { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { pglite } from '../../adapters/databases/pglite.ts';
import { postgres } from '../../adapters/databases/postgres.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';
import { type FreshDatabaseOptions, freshDatabase } from './fresh-database.ts';
import { type FreshPgliteOptions, freshPglite } from './pglite.ts';

/** A migrated database of a test file, on which one test after the other opens its runtimes. */
export interface RuntimeDatabase {
  readonly kind: 'pglite' | 'postgres';
  /** URL of the server's database; empty on PGlite. */
  readonly url: string;
  /** What a runtime is given: each time an adapter of its own. */
  adapter(): DatabaseAdapter;
  /** The same for a process that will die: `destroy` is what the operating system then does to its connections. */
  mortalAdapter(): { adapter: DatabaseAdapter; destroy(): Promise<void> };
  /** Rows of a statement, past every runtime, as the owner of the tables. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  query(text: string, values?: unknown[]): Promise<any[]>;
  /** Moves the clock that leases and deadlines go by. */
  moveClock(ms: number): Promise<void>;
}

/** A suite that runs on any database. It is handed a function, since the database is there only once the tests run. */
export type RuntimeSuite = (database: () => RuntimeDatabase) => void;

const MOVE = 'UPDATE turnlock.turnlock_clock SET offset_ms = offset_ms + $1';

/** Declares `suite` on one PGlite of the file. */
export function onPglite(suite: RuntimeSuite): void {
  onPgliteOf({}, suite);
}

function onPgliteOf(options: FreshPgliteOptions, suite: RuntimeSuite): void {
  let instance: PGlite;
  beforeAll(async () => {
    instance = await freshPglite(options);
  });
  suite(() => ({
    kind: 'pglite',
    url: '',
    adapter: () => pglite({ instance }),
    mortalAdapter: () => ({ adapter: pglite({ instance }), destroy: async () => undefined }),
    query: async (text, values) => (await instance.query(text, values)).rows,
    moveClock: async (ms) => void (await instance.query(MOVE, [ms])),
  }));
}

/** The same with the extension `vector` to be had, which no migration makes. */
export function onPgliteWithVector(suite: RuntimeSuite): void {
  onPgliteOf({ extensions: { vector } }, suite);
}

/** Declares `suite` on one database of the file on the run's server. */
export function onPostgres(suite: RuntimeSuite, options: FreshDatabaseOptions = {}): void {
  let url: string;
  let client: pg.Client;
  beforeAll(async () => {
    ({ url } = await freshDatabase(options));
    client = new pg.Client({ connectionString: url, application_name: 'turnlock-test-support' });
    await client.connect();
  });
  afterAll(() => client.end());
  suite(() => ({
    kind: 'postgres',
    url,
    adapter: () => postgres({ connectionString: url, max: 4 }),
    mortalAdapter: () => mortalAdapter(url),
    query: async (text, values) => (await client.query(text, values)).rows,
    moveClock: async (ms) => void (await client.query(MOVE, [ms])),
  }));
}

function mortalAdapter(connectionString: string): ReturnType<RuntimeDatabase['mortalAdapter']> {
  const pool = new pg.Pool({ connectionString, max: 4, application_name: 'mortal' });
  const clients = new Set<pg.PoolClient>();
  pool.on('error', () => undefined);
  pool.on('connect', (client) => clients.add(client));
  pool.on('remove', (client) => clients.delete(client));
  async function destroy(): Promise<void> {
    if (pool.ended || pool.ending) return;
    void pool.end(); // where something of the dead process still has a connection this never ends
    for (const client of clients) {
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    }
  }
  return { adapter: postgres(pool), destroy };
}
