import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { leakedConnections } from '../support/leaks.ts';
import { waitForLockWait } from '../support/wait-for-lock-wait.ts';
import { withClient } from '../support/with-client.ts';

test('a fresh database is separate, in UTF-8, and gone after it is dropped', async () => {
  const [one, other] = [await freshDatabase(), await freshDatabase()];
  await withClient(one.url, (client) => client.query('CREATE TABLE mark (text text)'));
  const found = await withClient(other.url, (client) =>
    client.query(`SELECT to_regclass('mark') AS mark, current_setting('server_encoding') AS encoding`),
  );
  expect(found.rows).toEqual([{ mark: null, encoding: 'UTF8' }]);
  await one.drop();
  await expect(withClient(one.url, (client) => client.query('SELECT 1'))).rejects.toThrow('does not exist');
});

test('a connection that stays open is named', async () => {
  const database = await freshDatabase({ toleratesOpenConnections: true });
  const client = new pg.Client({ connectionString: database.url, application_name: 'forgotten' });
  client.on('error', () => {});
  await client.connect();
  expect(await leakedConnections(inject('postgresUrl'), database.name)).toEqual([expect.stringMatching(/^forgotten /)]);
  await client.end();
  expect(await leakedConnections(inject('postgresUrl'), database.name)).toEqual([]);
});

test.fails('a test that leaves a connection open fails', async () => {
  const database = await freshDatabase();
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  await client.connect();
  expect(client).toBeDefined();
});

test('a lock wait is seen without sleeping', async () => {
  const { url } = await freshDatabase();
  await withClient(url, async (holder) => {
    await holder.query('SELECT pg_advisory_lock(1)');
    const waiter = withClient(url, (client) => client.query('SELECT pg_advisory_lock(1)'));
    expect(await waitForLockWait(url, { event: 'advisory' })).toHaveLength(1);
    await holder.query('SELECT pg_advisory_unlock(1)');
    await waiter;
  });
});
