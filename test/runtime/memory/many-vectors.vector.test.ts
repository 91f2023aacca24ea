import { beforeAll, expect, test } from 'vitest';
import { readEmbeddings } from '../../../persistence/memory/embedding-settings.ts';
import { makeEmbeddings } from '../../../persistence/memory/make-embeddings.ts';
import { type QueryVector, type RecallQuery, recallMemories } from '../../../persistence/memory/recall-memories.ts';
import { EXACT_VECTORS, recallSql } from '../../../persistence/memory/recall-sql.ts';
import { inTransaction, type Store } from '../../../persistence/session-transaction.ts';
import { openStore } from '../../support/open-store.ts';
import { onPostgres } from '../../support/runtime-database.ts';

const SETTINGS = { modelId: 'seeded', dimensions: 8 };
const MANY = EXACT_VECTORS + 500;
/** Every so many of a large owner's memories are preferences. */
const RARE = 200;

onPostgres((database) => {
  /**
   * Vectors that a seed scatters around a point: of a large owner around `(1, 0, …)`, of another large one on the other side, and of one who has
   * twenty.
   */
  async function fill(userId: string, tenantId: string, count: number, side: number): Promise<void> {
    await database().query(
      `INSERT INTO turnlock.agent_memories (tenant_id, user_id, kind, content, created_at, updated_at)
         SELECT $1, $2, CASE WHEN n % ${RARE} = 0 THEN 'preference' ELSE 'fact' END, 'memory ' || n, now(), now()
           FROM generate_series(1, $3::int) n`,
      [tenantId, userId, count],
    );
    await database().query(`SELECT setseed(0.25)`);
    await database().query(
      `INSERT INTO turnlock.agent_memory_embeddings (tenant_id, user_id, memory_id, embedding)
         SELECT m.tenant_id, m.user_id, m.memory_id,
             (SELECT array_agg(CASE WHEN d = 1 THEN $3::float8 ELSE 0 END + random() - 0.5) FROM generate_series(1, 8) d
               WHERE m.memory_id IS NOT NULL)::public.vector
           FROM turnlock.agent_memories m WHERE m.tenant_id = $1 AND m.user_id = $2`,
      [tenantId, userId, side],
    );
  }

  beforeAll(async () => {
    const store = await openStore(database());
    await makeEmbeddings(store.database, SETTINGS);
    await fill('near', 'large', MANY, 1);
    await fill('far', 'other', MANY, -1);
    await fill('few', 'small', 20, -1);
    await database().query('DELETE FROM turnlock.agent_memory_tasks');
    await database().query('ANALYZE');
  });

  const values = [1, 0.1, 0.1, 0, 0, 0, 0, -0.1];
  const limit = 10;

  async function vectorOf(store: Store, version?: string): Promise<QueryVector> {
    const { extension } = await readEmbeddings(store);
    return { ...SETTINGS, values, extension: { ...extension!, ...(version === undefined ? {} : { version }) } };
  }

  const search = async (tenantId: string, userId: string, over: Partial<RecallQuery> = {}) => {
    const store = await openStore(database());
    const query = { text: null, vector: await vectorOf(store), limit, ...over };
    return (await recallMemories(store, { tenantId, userId }, query)).map(({ memoryId }) => memoryId);
  };

  /** What is nearest, by comparing all. */
  async function nearest(tenantId: string, userId: string, kind = '%'): Promise<string[]> {
    const rows = await database().query(
      `SELECT e.memory_id AS id FROM turnlock.agent_memory_embeddings e JOIN turnlock.agent_memories m USING (tenant_id, user_id, memory_id)
         WHERE e.tenant_id = $1 AND e.user_id = $2 AND m.kind LIKE $3
         ORDER BY (e.embedding OPERATOR(public.<=>) $4::public.vector) + 0 LIMIT ${limit}`,
      [tenantId, userId, kind, JSON.stringify(values)],
    );
    return rows.map(({ id }) => id);
  }

  const shared = (found: string[], wanted: string[]) => found.filter((id) => wanted.includes(id)).length;

  test('a large owner is searched by the index, which finds what is nearest', async () => {
    const found = await search('large', 'near');
    expect(found).toHaveLength(limit);
    expect(shared(found, await nearest('large', 'near'))).toBeGreaterThanOrEqual(8);
    const store = await openStore(database());
    const plan = await inTransaction(store, { tenantId: 'large' }, async (em) => {
      const { text, names } = recallSql({
        ...{ byText: false, vectorSchema: 'public', filtersKinds: false, filtersSession: false },
        ...{ filtersNewer: false, filtersOlder: false, includesSuperseded: false },
      });
      const given: Record<string, unknown> = { tenantId: 'large', userId: 'near', ...SETTINGS, depth: 50, limit };
      given.vector = JSON.stringify(values);
      await em.execute(`select set_config('hnsw.iterative_scan', 'strict_order', true)`);
      const rows = await em.execute(
        `explain (analyze, costs off, timing off) ${text}`,
        names.map((name) => given[name]),
      );
      return (rows as object[]).map((row) => Object.values(row)[0]).join('\n');
    });
    expect(plan).toMatch(/idx_memory_embeddings_near.*\(actual/);
  });

  test('a large owner whose vectors lie behind another tenant’s gets full results, the nearest', async () => {
    const wanted = await nearest('other', 'far');
    const found = await search('other', 'far');
    expect(found).toHaveLength(limit);
    expect(shared(found, wanted)).toBeGreaterThanOrEqual(8);
    // An extension that does not go on by itself finds none of this tenant's: then all are compared.
    const store = await openStore(database());
    expect(await search('other', 'far', { vector: await vectorOf(store, '0.7.4') })).toEqual(wanted);
  });

  test('a small tenant beside large ones gets full results, exactly the nearest', async () => {
    expect(await search('small', 'few')).toEqual(await nearest('small', 'few'));
    expect(await search('small', 'few', { limit: 100 })).toHaveLength(20);
  });

  test('a condition that few of a large owner’s memories meet still gets full results', async () => {
    expect(await search('large', 'near', { kinds: ['preference'] })).toEqual(
      await nearest('large', 'near', 'preference'),
    );
  });
});
