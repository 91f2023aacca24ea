import { waitFor } from './wait-for.ts';
import { withClient } from './with-client.ts';

const OPEN = `
  SELECT format('%s (%s): %s', coalesce(nullif(application_name, ''), 'unnamed'), state, left(query, 80)) AS connection
  FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`;

/** How long a backend may take to notice that its client has gone: closing is not awaited by the protocol. */
const NOTICE_MS = 1_000;

/** Lists the client connections that are still open to a database, one line each; empty is good. */
export async function leakedConnections(serverUrl: string, databaseName: string): Promise<string[]> {
  return await withClient(serverUrl, async (client) => {
    let open: string[] = [];
    const closed = waitFor(
      async () => {
        const { rows } = await client.query<{ connection: string }>(OPEN, [databaseName]);
        open = rows.map((row) => row.connection);
        return open.length === 0;
      },
      { for: 'connections to close', timeoutMs: NOTICE_MS },
    );
    return await closed.then(
      () => [],
      () => open,
    );
  });
}
