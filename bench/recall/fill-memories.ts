import { randomUUID } from 'node:crypto';
import type { ClusteredMemories } from './clustered-memories.ts';
import type { Owner } from './tenants-of.ts';

/** Statements as the owner of the tables. */
export interface OwnerConnection {
  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  query(text: string, values?: unknown[]): Promise<any[]>;
}

/** What filling came to. */
export interface Filled {
  rows: number;
  /** Rows per second, in batches: the memories with their search columns, and their vectors with the index in place. */
  memoriesPerSecond: number;
  vectorsPerSecond: number;
  /** Some memories of each owner, for queries. */
  samples: Map<Owner, { topic: number; vector: number[] }[]>;
}

const BATCH = 1_000;

const SAMPLES = 20;

/** Gives each owner its memories and their vectors, all owners by turns, as they would come. */
export async function fillMemories(
  connection: OwnerConnection,
  owners: readonly Owner[],
  made: ClusteredMemories,
  vectorType: string,
): Promise<Filled> {
  const turns = owners.flatMap((owner) => Array.from({ length: owner.memories }, (_, index) => ({ owner, index })));
  // By the share of its own that an owner has by then: nobody's memories lie beside each other.
  turns.sort((one, other) => one.index / one.owner.memories - other.index / other.owner.memories);
  const topics = new Map(owners.map((owner) => [owner, made.topicsOf(owner.memories)]));
  const samples: Filled['samples'] = new Map(owners.map((owner) => [owner, []]));
  let [memoriesMs, vectorsMs] = [0, 0];
  for (let first = 0; first < turns.length; first += BATCH) {
    const rows = turns.slice(first, first + BATCH).map(({ owner }) => {
      const memory = made.memory(topics.get(owner) ?? []);
      const kept = samples.get(owner) ?? [];
      if (kept.length < SAMPLES) kept.push(memory);
      return { ...owner, ...memory, memoryId: randomUUID() };
    });
    const owned = [rows.map((row) => row.tenantId), rows.map((row) => row.userId), rows.map((row) => row.memoryId)];
    const began = performance.now();
    await connection.query(
      `INSERT INTO turnlock.agent_memories (tenant_id, user_id, memory_id, kind, content, created_at, updated_at)
        SELECT tenant_id, user_id, memory_id, 'fact', content, turnlock.turnlock_now(), turnlock.turnlock_now()
          FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[]) AS one (tenant_id, user_id, memory_id, content)`,
      [...owned, rows.map(({ content }) => content)],
    );
    const stored = performance.now();
    await connection.query(
      `INSERT INTO turnlock.agent_memory_embeddings (tenant_id, user_id, memory_id, embedding)
        SELECT tenant_id, user_id, memory_id, embedding::${vectorType}
          FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[]) AS one (tenant_id, user_id, memory_id, embedding)`,
      [...owned, rows.map(({ vector }) => textOf(vector))],
    );
    memoriesMs += stored - began;
    vectorsMs += performance.now() - stored;
  }
  const perSecond = (ms: number) => Math.round((turns.length / ms) * 1_000);
  const rates = { memoriesPerSecond: perSecond(memoriesMs), vectorsPerSecond: perSecond(vectorsMs) };
  return { rows: turns.length, ...rates, samples };
}

/** A vector as the database reads it. */
export function textOf(vector: readonly number[]): string {
  return `[${vector.map((number) => number.toFixed(7)).join(',')}]`;
}
