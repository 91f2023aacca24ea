import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import pg from 'pg';
import { pglite } from '../../adapters/databases/pglite.ts';
import { postgres } from '../../adapters/databases/postgres.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';
import { openBenchDatabase } from '../bench-database.ts';
import { describeMachine, type Machine } from '../machine.ts';
import type { OwnerConnection } from './fill-memories.ts';

/** A migrated database that has the extension `vector`, for as long as the benchmark runs. */
export interface RecallDatabase {
  /** As the application's role; each time an adapter of its own. */
  adapter(): DatabaseAdapter;
  /** As the owner of the schema, who may make the table for vectors. */
  ownerAdapter(): DatabaseAdapter;
  owner: OwnerConnection;
  /** The same connection as the application has: row-level security holds. */
  application: OwnerConnection;
  machine: Machine;
  close(): Promise<void>;
}

/** On a server with pgvector. */
export async function openRecallServer(serverUrl: string): Promise<RecallDatabase> {
  const database = await openBenchDatabase(serverUrl);
  const application = new pg.Client({ connectionString: database.url, application_name: 'turnlock-bench-plain' });
  await application.connect();
  await database.owner.query('CREATE EXTENSION vector');
  const { rows } = await database.owner.query(`SELECT extversion FROM pg_extension WHERE extname = 'vector'`);
  const machine = await describeMachine(database.owner);
  return {
    adapter: () => postgres(database.url),
    ownerAdapter: () => postgres(database.ownerUrl),
    owner: { query: async (text, values) => (await database.owner.query(text, values)).rows },
    application: { query: async (text, values) => (await application.query(text, values)).rows },
    machine: { ...machine, server: `${machine.server}, pgvector ${rows[0].extversion}` },
    async close() {
      await application.end();
      await database.drop();
    },
  };
}

/** On PostgreSQL in this process, in memory. Row-level security holds there for the statements of the runtime alone. */
export async function openRecallPglite(): Promise<RecallDatabase> {
  const instance = await PGlite.create({ extensions: { vector }, loadDataDir: await dataDir() });
  const connection: OwnerConnection = { query: async (text, values) => (await instance.query(text, values)).rows };
  const machine = await describeMachine({ query: (text: string) => instance.query(text) } as unknown as pg.Client);
  return {
    adapter: () => pglite({ instance }),
    ownerAdapter: () => pglite({ instance }),
    owner: connection,
    application: connection,
    machine: { ...machine, server: machine.server.replace('PostgreSQL', 'PGlite, PostgreSQL') },
    close: () => instance.close(),
  };
}
