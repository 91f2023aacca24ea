import type { Runtime } from '../../index.ts';
import { quantile } from '../statistics.ts';
import type { ClusteredMemories, MadeMemory } from './clustered-memories.ts';
import { type Filled, type OwnerConnection, textOf } from './fill-memories.ts';
import type { Owner } from './tenants-of.ts';

const LIMIT = 10;

/** What of one size of owners was found, and how long it took. */
export interface SizeResult {
  /** Memories of each owner. */
  memories: number;
  owners: number;
  queries: number;
  /** The share of the ten nearest, by exact search, that the vector half found. */
  recallAt10: number;
  /** Queries that got fewer than ten although the owner has as many. */
  short: number;
  /** Milliseconds. */
  hybrid: Latency;
  vector: Latency;
  text: Latency;
  /** The plain vector query, written by hand: the nearest ten of the tenant, in one statement. */
  plain: Latency;
}

export interface Latency {
  p50: number;
  p95: number;
}

/** What measuring works with. */
export interface Measuring {
  runtime: Runtime;
  /** Past row-level security, for the exact search. */
  owner: OwnerConnection;
  /** As the application's role, for the plain query. */
  application: OwnerConnection;
  /** The extension's schema, quoted. */
  vectorSchema: string;
  /** What the embedder answers for the text of a query. */
  vectors: Map<string, number[]>;
}

/** Asks `queries` times for memories of owners of one size, each query in every way, one after the other. */
export async function measureSize(
  measuring: Measuring,
  made: ClusteredMemories,
  { owners, samples, queries }: { owners: readonly Owner[]; samples: Filled['samples']; queries: number },
): Promise<SizeResult> {
  const times = { hybrid: [] as number[], vector: [] as number[], text: [] as number[], plain: [] as number[] };
  const warmUps = Math.min(10, queries);
  let [wanted, found, short] = [0, 0, 0];
  for (let asked = -warmUps; asked < queries; asked += 1) {
    const owner = owners[(asked + warmUps) % owners.length] as Owner;
    const ofOwner = samples.get(owner) ?? [];
    const query = made.query(ofOwner[(asked + warmUps) % ofOwner.length] as (typeof ofOwner)[number]);
    measuring.vectors.set(query.content, query.vector);
    const answers: Partial<Record<'hybrid' | 'vector' | 'text', string[]>> = {};
    for (const by of ['hybrid', 'vector', 'text'] as const) {
      const began = performance.now();
      answers[by] = await recalled(measuring.runtime, owner, query, by);
      if (asked >= 0) times[by].push(performance.now() - began);
    }
    const began = performance.now();
    await plainQuery(measuring, owner, query);
    if (asked >= 0) times.plain.push(performance.now() - began);
    measuring.vectors.delete(query.content);
    if (asked < 0) continue;
    const exact = await exactly(measuring, owner, query);
    const vector = answers.vector ?? [];
    wanted += exact.length;
    found += exact.filter((id) => vector.includes(id)).length;
    if (vector.length < exact.length) short += 1;
  }
  return {
    memories: owners[0]?.memories ?? 0,
    owners: owners.length,
    queries,
    recallAt10: found / wanted,
    short,
    hybrid: latencyOf(times.hybrid),
    vector: latencyOf(times.vector),
    text: latencyOf(times.text),
    plain: latencyOf(times.plain),
  };
}

function latencyOf(times: readonly number[]): Latency {
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95) };
}

async function recalled(
  runtime: Runtime,
  { tenantId, userId }: Owner,
  { content }: MadeMemory,
  by: 'hybrid' | 'vector' | 'text',
): Promise<string[]> {
  const { memories, searchedBy } = await runtime
    .memory({ tenantId, userId })
    .recall({ query: content, limit: LIMIT, by });
  if (searchedBy !== by) throw new Error(`searched by ${searchedBy}, wanted ${by}`);
  return memories.map(({ memoryId }) => memoryId);
}

/** What one would write who has the table and nothing of ours: row-level security holds, and the index is used as it comes. */
async function plainQuery(
  { application, vectorSchema }: Measuring,
  { tenantId, userId }: Owner,
  { vector }: MadeMemory,
): Promise<void> {
  await application.query('BEGIN');
  await application.query(`SELECT set_config('turnlock.tenant', $1, true)`, [tenantId]);
  await application.query(
    `SELECT m.memory_id, m.content FROM turnlock.agent_memory_embeddings e
       JOIN turnlock.agent_memories m USING (tenant_id, user_id, memory_id)
      WHERE e.tenant_id = $1 AND e.user_id = $2
      ORDER BY e.embedding OPERATOR(${vectorSchema}.<=>) $3::text::${vectorSchema}.vector LIMIT ${LIMIT}`,
    [tenantId, userId, textOf(vector)],
  );
  await application.query('COMMIT');
}

async function exactly(
  { owner, vectorSchema }: Measuring,
  { tenantId, userId }: Owner,
  { vector }: MadeMemory,
): Promise<string[]> {
  // The rows are taken first, so that no index of vectors can be used.
  const rows = await owner.query(
    `WITH own AS MATERIALIZED (SELECT memory_id, embedding FROM turnlock.agent_memory_embeddings WHERE tenant_id = $1 AND user_id = $2)
      SELECT memory_id FROM own ORDER BY embedding OPERATOR(${vectorSchema}.<=>) $3::text::${vectorSchema}.vector LIMIT ${LIMIT}`,
    [tenantId, userId, textOf(vector)],
  );
  return rows.map(({ memory_id: id }) => id as string);
}
