import type { RuntimeDatabase } from './runtime-database.ts';
import { waitFor } from './wait-for.ts';

const OF_APPLICATION = `FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = $1 AND backend_type = 'client backend'`;

/** Ends every backend of that application in the database, and resolves when they are gone. */
export async function terminateBackends(database: RuntimeDatabase, applicationName: string): Promise<void> {
  const rows = await database.query(`SELECT pid, pg_terminate_backend(pid) ${OF_APPLICATION}`, [applicationName]);
  const pids = rows.map(({ pid }) => pid);
  await waitFor(
    async () => (await database.query('SELECT FROM pg_stat_activity WHERE pid = ANY ($1)', [pids])).length === 0,
    { for: 'the backends to end', everyMs: 2 },
  );
}
