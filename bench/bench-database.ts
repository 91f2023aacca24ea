import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { postgres } from '../adapters/databases/postgres.ts';
import { systemEnvironment } from '../environment.ts';
import { resolveLimits } from '../limits.ts';
import { migrate } from '../persistence/migrate.ts';
import { startEmbeddedServer } from '../test/support/embedded-server.ts';

/** Two databases with our tables, for as long as the benchmark runs. */
export interface BenchDatabase {
  /** As it is migrated. The role of this URL owns nothing, so row-level security holds for it. */
  readonly url: string;
  /** The same tables without their triggers and without row-level security; foreign keys and CHECKs stay. */
  readonly bareUrl: string;
  /** The first one as the server's owner. */
  readonly ownerUrl: string;
  /** A connection of the server's owner to the first one. */
  readonly owner: pg.Client;
  /** Whether the server is our own, so that its settings may be changed. */
  readonly isOwnServer: boolean;
  drop(): Promise<void>;
}

/** Makes both databases, on `serverUrl` or on a server that is started here with fsync on. */
export async function openBenchDatabase(serverUrl: string | undefined): Promise<BenchDatabase> {
  const server = serverUrl === undefined ? await startEmbeddedServer({ fsync: true }) : undefined;
  const adminUrl = server?.url ?? (serverUrl as string);
  const name = `turnlock_bench_${randomBytes(4).toString('hex')}`;
  const password = randomBytes(12).toString('base64url');
  const opened: pg.Client[] = [];
  async function connect(url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url, application_name: 'turnlock-bench-owner' });
    await client.connect();
    opened.push(client);
    return client;
  }
  async function drop(): Promise<void> {
    for (const client of opened.splice(0)) await client.end();
    if (server !== undefined) return await server.stop();
    const admin = await connect(adminUrl);
    for (const one of [name, `${name}_bare`]) await admin.query(`DROP DATABASE IF EXISTS ${one} WITH (FORCE)`);
    await admin.query(`DROP ROLE IF EXISTS ${name}`);
    await admin.end();
  }
  try {
    const admin = await connect(adminUrl);
    await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`);
    await admin.query(`CREATE DATABASE ${name}`);
    await migrateAt(urlOf(adminUrl, name), name);
    await admin.query(`CREATE DATABASE ${name}_bare TEMPLATE ${name}`);
    const bare = await connect(urlOf(adminUrl, `${name}_bare`));
    await bare.query(STRIP);
    const owner = await connect(urlOf(adminUrl, name));
    const as = { username: name, password };
    return {
      url: urlOf(adminUrl, name, as),
      bareUrl: urlOf(adminUrl, `${name}_bare`, as),
      ownerUrl: urlOf(adminUrl, name),
      owner,
      isOwnServer: server !== undefined,
      drop,
    };
  } catch (error) {
    await drop();
    throw error;
  }
}

const STRIP = `DO $$ DECLARE one regclass; BEGIN
  FOR one IN SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'turnlock'::regnamespace AND c.relkind = 'r' LOOP
    EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER, DISABLE ROW LEVEL SECURITY', one);
  END LOOP;
END $$`;

async function migrateAt(url: string, grantTo: string): Promise<void> {
  const database = await postgres(url).connect({ environment: systemEnvironment, limits: resolveLimits() });
  try {
    await migrate(database, { grantTo });
  } finally {
    await database.close();
  }
}

function urlOf(serverUrl: string, database: string, as: { username?: string; password?: string } = {}): string {
  return Object.assign(new URL(serverUrl), { pathname: `/${database}`, ...as }).href;
}
