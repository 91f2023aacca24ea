import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { hashedNgrams } from '../../../adapters/embedders/hashed-ngrams.ts';
import { createRuntime, type Runtime } from '../../../index.ts';
import { makeEmbeddings } from '../../../persistence/memory/make-embeddings.ts';
import { migrate } from '../../../persistence/migrate.ts';
import { freshRole } from '../../adapters/databases/fresh-role.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { openStore } from '../../support/open-store.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { scriptedAgent } from '../../support/runtime-open.ts';
import { waitFor } from '../../support/wait-for.ts';
import { waitForLockWait } from '../../support/wait-for-lock-wait.ts';
import { withClient } from '../../support/with-client.ts';

const agent = scriptedAgent('done');
const embedder = hashedNgrams();

/** A runtime at the URL, and what it warned of. */
async function open(url: string, mode: 'auto' | 'check'): Promise<{ runtime: Runtime; warnings: string[] }> {
  const warnings: string[] = [];
  const runtime = await createRuntime({
    database: postgres({ connectionString: url, max: 2 }),
    agents: [agent],
    migrate: mode,
    memory: { embedder },
    onWarning: ({ code }) => warnings.push(code),
  });
  atTestEnd(() => runtime.close());
  return { runtime, warnings };
}

/** Remembers, and finds by vector what was remembered. */
async function findsByVector(runtime: Runtime, url: string): Promise<void> {
  const memory = runtime.memory({ tenantId: 'tenant', userId: `user-${randomUUID()}` });
  await memory.remember({ kind: 'fact', content: 'kept somewhere' });
  await waitFor(
    () =>
      withClient(url, async (client) => (await client.query('SELECT FROM turnlock.agent_memory_tasks')).rowCount === 0),
    { for: 'the vector' },
  );
  const found = await memory.recall({ query: 'somewhat', by: 'vector' });
  expect(found.memories.map(({ content }) => content)).toEqual(['kept somewhere']);
}

test('the extension is found in whatever schema it is', async () => {
  const { url } = await freshDatabase();
  await withClient(url, async (client) => {
    await client.query('CREATE SCHEMA "Shared ""things"""');
    await client.query('CREATE EXTENSION vector SCHEMA "Shared ""things"""');
  });
  const { runtime, warnings } = await open(url, 'auto');
  await findsByVector(runtime, url);
  expect(warnings).not.toContain('MEMORY_TEXT_ONLY');
});

test('a role that owns the schema and may create no extension works by words; with an extension that is there, by vectors', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const owner = await freshRole(url);
  await withClient(url, async (client) => {
    await client.query(`CREATE SCHEMA turnlock AUTHORIZATION ${owner.name}`);
    await client.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  });
  const before = await open(owner.url, 'auto');
  expect(before.warnings).toContain('MEMORY_TEXT_ONLY');
  const memory = before.runtime.memory({ tenantId: 'tenant', userId: 'user' });
  await memory.remember({ kind: 'fact', content: 'by words' });
  expect((await memory.recall({ query: 'words' })).searchedBy).toBe('text');
  await withClient(url, (client) => client.query('CREATE EXTENSION vector SCHEMA public'));
  const after = await open(owner.url, 'auto');
  expect(after.warnings).not.toContain('MEMORY_TEXT_ONLY');
  // What was remembered before is owed its vector too.
  await after.runtime.start();
  await findsByVector(after.runtime, url);
});

test('an extension that was dropped with the vectors leaves words, and the next runtime that may makes all anew', async () => {
  const { url } = await freshDatabase();
  const first = await open(url, 'auto');
  await findsByVector(first.runtime, url);
  await withClient(url, (client) => client.query('DROP EXTENSION vector CASCADE'));
  const without = await open(url, 'check');
  expect(without.warnings).toContain('MEMORY_TEXT_ONLY');
  const memory = without.runtime.memory({ tenantId: 'tenant', userId: 'user' });
  await memory.remember({ kind: 'fact', content: 'by words' });
  expect((await memory.recall({ query: 'words' })).searchedBy).toBe('text');
  const anew = await open(url, 'auto');
  await anew.runtime.start();
  await findsByVector(anew.runtime, url);
});

test('vectors are replaced beside what goes on, and wait for whoever writes memories without keeping others waiting', async () => {
  const { url } = await freshDatabase();
  const { runtime } = await open(url, 'auto');
  const memory = runtime.memory({ tenantId: 'tenant', userId: 'user' });
  await memory.remember({ kind: 'fact', content: 'kept somewhere' }, { embed: 'before' });
  await withClient(url, async (client) => {
    await client.query('BEGIN');
    const transaction = { query: (text: string, values: unknown[]) => client.query(text, values) };
    await memory.remember({ kind: 'fact', content: 'by a transaction that stays open' }, { transaction });
    await client.query('SELECT FROM turnlock.agent_memory_embedding_settings');
    const { database } = await openStore({ adapter: () => postgres({ connectionString: url, max: 2 }) });
    const replaced = makeEmbeddings(database, { modelId: 'newer', dimensions: 16 }, { replace: true });
    await waitForLockWait(url, { event: 'relation' });
    for (const by of ['text', 'vector', 'hybrid'] as const) {
      const { memories } = await memory.recall({ query: 'somewhere', by });
      expect(memories).toMatchObject([{ content: 'kept somewhere' }]);
    }
    await memory.remember({ kind: 'fact', content: 'meanwhile' }, { embed: 'before' });
    await client.query('COMMIT');
    expect(await replaced).toMatchObject({ outcome: 'replaced' });
    const { rows } = await client.query(
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
  });
  expect((await memory.recall({ query: 'somewhere' })).memories).toMatchObject([{ content: 'kept somewhere' }]);
});

onPostgres((database) => {
  test.each(['before', 'after'])(
    'a role that was granted its rights %s the vectors were made works, within its tenant',
    async (when) => {
      const { name, url } = await freshRole(database().url);
      const store = await openStore(database());
      if (when === 'before') await migrate(store.database, { grantTo: name });
      await (await open(database().url, 'auto')).runtime.close();
      if (when === 'after') await migrate(store.database, { grantTo: name });
      const { runtime } = await open(url, 'check');
      await findsByVector(runtime, database().url);
      await withClient(url, async (client) => {
        const count = async (tenant: string) => {
          await client.query(`SELECT set_config('turnlock.tenant', $1, false)`, [tenant]);
          const { rows } = await client.query('SELECT count(*)::int AS count FROM turnlock.agent_memory_embeddings');
          return rows[0].count;
        };
        expect(await count('tenant')).toBeGreaterThan(0);
        expect([await count('other'), await count('')]).toEqual([0, 0]);
        await client.query(`SELECT set_config('turnlock.tenant', 'other', false)`);
        await expect(
          client.query(
            `INSERT INTO turnlock.agent_memory_embeddings (tenant_id, user_id, memory_id, embedding)
             VALUES ('tenant', 'u', gen_random_uuid(), '[1]')`,
          ),
        ).rejects.toThrow();
      });
    },
  );
});
