import { withClient } from './with-client.ts';

/** Every database of a run begins with this, so that what is ours can be told on a shared server. */
export function databasePrefix(runId: string): string {
  return `turnlock_test_${runId}_`;
}

/** The same URL with another database. */
export function urlOfDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Drops every database of the run, its template too. */
export async function dropDatabases(serverUrl: string, runId: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
      [databasePrefix(runId)],
    );
    for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS "${datname}" WITH (FORCE)`);
  });
}
