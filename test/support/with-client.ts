import pg from 'pg';

/** Runs work with one connection of its own, closed afterwards also when the work throws. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'turnlock-test-support' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
