import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { hashedNgrams } from '../../../adapters/embedders/hashed-ngrams.ts';
import { createRuntime } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../../support/runtime-open.ts';
import { describeMemory } from './memory-suite.ts';

const agent = scriptedAgent('done');

onPostgres((database) => {
  describeMemory(database);

  const owner = () => ({ tenantId: 'tenant', userId: `user-${randomUUID()}` });

  /** A client of the caller's, in a transaction. */
  async function begin(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: database().url });
    await client.connect();
    atTestEnd(() => client.end());
    await client.query('BEGIN');
    return client;
  }

  test('C68 30 empty searches, and 30 that find nothing, leave no connection behind', async () => {
    const pool = new pg.Pool({ connectionString: database().url, max: 2 });
    const runtime = await openRuntime(database(), [agent], { adapter: postgres(pool) });
    atTestEnd(async () => {
      await runtime.close();
      await pool.end();
    });
    const memory = runtime.memory(owner());
    for (let times = 1; times <= 30; times += 1) {
      expect((await memory.recall({ query: '' })).memories).toEqual([]);
    }
    const found = await Promise.all(Array.from({ length: 30 }, () => memory.recall({ query: 'nothing of the kind' })));
    expect(found.flatMap(({ memories }) => memories)).toEqual([]);
    const { totalCount, idleCount, waitingCount } = pool;
    expect({ totalCount, idleCount, waitingCount }).toEqual({ totalCount: 2, idleCount: 2, waitingCount: 0 });
  });

  test('in a transaction of the caller’s a memory is there once that commits, and not at all after a rollback', async () => {
    const memory = (await openRuntime(database(), [agent])).memory(owner());
    const { memoryId: old } = await memory.remember({ kind: 'fact', content: 'as it was' });
    const contents = async () => (await memory.list()).map(({ content }) => content);
    const transaction = await begin();
    const given = { kind: 'fact', content: 'as it is', supersedes: [old], memoryId: randomUUID() } as const;
    expect(await memory.remember(given, { transaction })).toEqual({ memoryId: given.memoryId, repeated: false });
    expect(await memory.remember(given, { transaction })).toEqual({ memoryId: given.memoryId, repeated: true });
    expect(await contents()).toEqual(['as it was']);
    await transaction.query('ROLLBACK');
    expect(await contents()).toEqual(['as it was']);
    await transaction.query('BEGIN');
    await memory.remember(given, { transaction });
    await transaction.query('COMMIT');
    expect(await contents()).toEqual(['as it is']);
  });

  test.each([
    ['another content under a known id', { content: 'other' }, 'MEMORY_CONFLICT'],
    ['nothing to supersede', { memoryId: randomUUID(), supersedes: [randomUUID()] }, 'MEMORY_NOT_FOUND'],
    ['a language that is none', { memoryId: randomUUID(), language: 'klingon' }, 'OPTIONS_INVALID'],
  ])('%s is refused in the caller’s transaction too', async (_, over, code) => {
    const memory = (await openRuntime(database(), [agent])).memory(owner());
    const given = { kind: 'fact', content: 'once', memoryId: randomUUID() } as const;
    await memory.remember(given);
    const transaction = await begin();
    await expect(memory.remember({ ...given, ...over }, { transaction })).rejects.toMatchObject({ code });
  });

  test('a transaction stands alone: neither a session’s commit nor a vector beforehand', async () => {
    const memory = (await openRuntime(database(), [agent])).memory(owner());
    const transaction = await begin();
    const given = { kind: 'fact', content: 'x' } as const;
    for (const refused of [
      memory.remember({ ...given, sessionId: randomUUID() }, { transaction }),
      memory.remember(given, { transaction, embed: 'before' }),
      memory.remember(given, { embed: 'before' }),
    ]) {
      await expect(refused).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    }
  });

  test('without the extension everything works by words, and a warning says so', async () => {
    for (const migrate of ['check', 'auto'] as const) {
      const warnings: string[] = [];
      const runtime = await createRuntime({
        database: database().adapter(),
        agents: [agent],
        migrate,
        memory: { embedder: hashedNgrams() },
        onWarning: ({ code }) => warnings.push(code),
      });
      atTestEnd(() => runtime.close());
      const memory = runtime.memory(owner());
      await memory.remember({ kind: 'fact', content: 'found by words' });
      const { memories, searchedBy } = await memory.recall({ query: 'words' });
      expect([searchedBy, memories.length]).toEqual(['text', 1]);
      expect(warnings).toContain('MEMORY_TEXT_ONLY');
    }
  });
});
