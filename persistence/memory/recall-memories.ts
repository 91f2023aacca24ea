import type { EntityManager } from '@mikro-orm/postgresql';
import type { Json } from '../../machines/event-content.ts';
import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';
import type { EmbeddingSettings } from './embedding-settings.ts';
import type { MemoryKind, MemoryOwner } from './new-memory.ts';
import { countingSql, type RecallParameter, type RecallShape, recallSql } from './recall-sql.ts';

/** Which memories may be found. */
export interface MemoryFilter {
  kinds?: readonly MemoryKind[];
  /** Only those that came from this session. */
  sessionId?: string;
  newerThan?: Date;
  olderThan?: Date;
  /** Whether what was superseded may be found too. */
  includesSuperseded?: boolean;
}

/** What is looked for. */
export interface RecallQuery extends MemoryFilter {
  /** The words to look for; `null`: by vector alone. */
  text: string | null;
  /** The vector of the query; `null`: by text alone. */
  vector: QueryVector | null;
  limit: number;
}

/** A query's vector, and where its type is. */
export interface QueryVector extends EmbeddingSettings {
  values: readonly number[];
  extension: { schema: string; version: string };
}

/** A memory that was found. */
export interface FoundMemory {
  memoryId: string;
  kind: MemoryKind;
  content: string;
  /** The sum of 1 / (60 + rank) over the halves that found it; 0 where nothing was looked for. */
  score: number;
  /** Its place in each half, from 1 on; `null` where that half did not find it. */
  ranks: { text: number | null; vector: number | null };
  /** Cosine similarity to the query, from -1 to 1; `null` where no vector was compared. */
  similarity: number | null;
  sessionId: string | null;
  turnIndex: number | null;
  createdAt: Date;
  expiresAt: Date | null;
  metadata: { [name: string]: Json };
  isSuperseded: boolean;
}

interface Row {
  memory_id: string;
  kind: MemoryKind;
  content: string;
  score: number;
  text_rank: number | null;
  vector_rank: number | null;
  similarity: number | null;
  session_id: string | null;
  turn_index: number | null;
  metadata: FoundMemory['metadata'];
  created_ms: string;
  expires_ms: string | null;
  is_superseded: boolean;
}

/** How many each half finds at most, before they are fused. */
const depthOf = (limit: number): number => Math.max(4 * limit, 50);

/** Entries of the index that one search looks at; beyond that the owner's vectors are compared one by one. */
const MAX_SCANNED = 40_000;

/** The owner's memories that fit, best first. One statement, in which both halves see the same moment. */
export async function recallMemories(store: Store, owner: MemoryOwner, query: RecallQuery): Promise<FoundMemory[]> {
  const { text, vector } = query;
  const shape = shapeOf(query, { byText: text !== null, vectorSchema: vector?.extension.schema ?? null });
  const statement = recallSql(shape);
  const given = parametersOf(owner, query);
  return inPatientTransaction(store, { tenantId: owner.tenantId }, async (em) => {
    if (vector !== null) await setIndexScan(em, vector, depthOf(query.limit));
    const rows = (await em.execute(
      statement.text,
      statement.names.map((name) => given[name]),
    )) as Row[];
    return rows.map(toMemory);
  });
}

/** The owner's newest memories that fit: what is found where nothing is looked for. */
export async function newestMemories(
  store: Store,
  owner: MemoryOwner,
  query: MemoryFilter & { limit: number; after?: string },
): Promise<FoundMemory[]> {
  const given = { ...parametersOf(owner, { ...query, text: null, vector: null }), after: query.after };
  const names: (keyof typeof given)[] = [];
  const page = `and (m.created_at, m.memory_id) < (select p.created_at, p.memory_id from turnlock.agent_memories p
      where p.tenant_id = :tenantId and p.user_id = :userId and p.memory_id = :after::uuid)`;
  const text = `with asked as materialized (select turnlock.turnlock_now() as moment)
    select m.memory_id, m.kind, m.content, 0::float8 as score, null::int as text_rank, null::int as vector_rank, null::float8 as similarity,
        m.session_id, t.turn_index, m.metadata, (extract(epoch from m.created_at) * 1000)::bigint::text as created_ms,
        (extract(epoch from m.expires_at) * 1000)::bigint::text as expires_ms, m.superseded_at is not null as is_superseded
      from turnlock.agent_memories m
      left join turnlock.agent_turns t on t.session_id = m.session_id and t.turn_id = m.turn_id
      where ${countingSql(shapeOf(query, { byText: false, vectorSchema: null }))} ${query.after === undefined ? '' : page}
      order by m.created_at desc, m.memory_id desc limit :limit`.replaceAll(
    /(?<!:):([a-zA-Z]+)/g,
    (_, name: keyof typeof given) => {
      names.push(name);
      return '?';
    },
  );
  return inPatientTransaction(store, { tenantId: owner.tenantId }, async (em) => {
    const rows = (await em.execute(
      text,
      names.map((name) => given[name]),
    )) as Row[];
    return rows.map(toMemory);
  });
}

function shapeOf(
  { kinds, sessionId, newerThan, olderThan, includesSuperseded = false }: MemoryFilter,
  halves: Pick<RecallShape, 'byText' | 'vectorSchema'>,
): RecallShape {
  return {
    ...halves,
    filtersKinds: kinds !== undefined,
    filtersSession: sessionId !== undefined,
    filtersNewer: newerThan !== undefined,
    filtersOlder: olderThan !== undefined,
    includesSuperseded,
  };
}

function parametersOf({ tenantId, userId }: MemoryOwner, query: RecallQuery): Record<RecallParameter, unknown> {
  const { kinds, sessionId, newerThan, olderThan, text, vector, limit } = query;
  return {
    tenantId,
    userId,
    query: text,
    vector: vector === null ? null : `[${vector.values.join(',')}]`,
    modelId: vector?.modelId,
    dimensions: vector?.dimensions,
    kinds: JSON.stringify(kinds ?? []),
    sessionId,
    newerThan: newerThan?.toISOString(),
    olderThan: olderThan?.toISOString(),
    depth: depthOf(limit),
    limit,
  };
}

/** Candidates that the index keeps in view, at least: with as many as are wanted it misses one in twenty among 30,000 of one owner. */
const MIN_CANDIDATES = 200;

/** How the index is asked, for this transaction alone. Before version 0.8 it does not go on by itself: then all are compared where it found too few. */
async function setIndexScan(em: EntityManager, { extension }: QueryVector, depth: number): Promise<void> {
  const [major = 0, minor = 0] = extension.version.split('.').map(Number);
  const settings: [string, string][] = [['hnsw.ef_search', String(Math.min(Math.max(depth, MIN_CANDIDATES), 1_000))]];
  if (major > 0 || minor >= 8) {
    settings.push(['hnsw.iterative_scan', 'strict_order'], ['hnsw.max_scan_tuples', String(MAX_SCANNED)]);
  }
  await em.execute(`select ${settings.map(() => 'set_config(?, ?, true)').join(', ')}`, settings.flat());
}

function toMemory(row: Row): FoundMemory {
  return {
    memoryId: row.memory_id,
    kind: row.kind,
    content: row.content,
    score: row.score,
    ranks: { text: row.text_rank, vector: row.vector_rank },
    similarity: row.similarity,
    sessionId: row.session_id,
    turnIndex: row.turn_index,
    createdAt: new Date(Number(row.created_ms)),
    expiresAt: row.expires_ms === null ? null : new Date(Number(row.expires_ms)),
    metadata: row.metadata,
    isSuperseded: row.is_superseded,
  };
}
