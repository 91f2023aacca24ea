import { beforeAll, expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { checkSchema } from '../../persistence/migrate.ts';
import { connect } from '../adapters/databases/connect.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { spawnChild } from '../support/child.ts';
import { urlOfDatabase } from '../support/database-names.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../support/embedded-server.ts';
import type { Child } from '../support/start-child.ts';
import { withClient } from '../support/with-client.ts';

const PROCESSES = 6;
const DATABASES = 10;

/** A server of its own: on the run's, roles of the cluster exist from other tests, and the race to create them is part of it. */
let server: EmbeddedServer;

beforeAll(async () => {
  server = await startEmbeddedServer();
  atTestEnd(() => server.stop());
});

test('C56 six processes migrate ten fresh databases at once: each is migrated by one, and none fails', async () => {
  const names = Array.from({ length: DATABASES }, (_, index) => `fresh_${index}`);
  await withClient(server.url, async (client) => {
    for (const name of names) await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  });
  const urls = names.map((name) => urlOfDatabase(server.url, name));
  const children = Array.from({ length: PROCESSES }, () => spawnChild('test/persistence/migrate.child.ts'));
  await all(children, (child) => child.next('ready'));
  for (const child of children) child.send({ type: 'databases', urls });
  await all(children, (child) => child.next('connected', { timeoutMs: 60_000 }));
  for (const child of children) child.send({ type: 'go' });
  const told = await all(children, (child) => child.next('migrated', { timeoutMs: 60_000 }));
  const results = told.map((message) => message.results as { applied: number; error?: string }[]);
  expect(results.flat().flatMap(({ error }) => error ?? [])).toEqual([]);
  const appliers = names.map((_, index) => results.filter((result) => result[index]?.applied === 1).length);
  expect(appliers).toEqual(names.map(() => 1));
  for (const url of urls) {
    const database = await connect(postgres(url));
    await expect(checkSchema(database)).resolves.toBeUndefined();
    await database.close();
  }
});

async function all<Result>(children: readonly Child[], work: (child: Child) => Promise<Result>): Promise<Result[]> {
  return await Promise.all(children.map(work));
}
