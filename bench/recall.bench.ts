import { createRuntime, type DatabaseAdapter, type Embedder, type Runtime } from '../index.ts';
import { startDebianServer } from '../test/support/debian-server.ts';
import { ClusteredMemories } from './recall/clustered-memories.ts';
import { fillMemories } from './recall/fill-memories.ts';
import { idleAgent } from './recall/idle-agent.ts';
import { measureIngestion } from './recall/measure-ingestion.ts';
import { measureSize } from './recall/measure-recall.ts';
import { openRecallPglite, openRecallServer, type RecallDatabase } from './recall/recall-database.ts';
import { RECALL_USAGE, type RecallOptions, readRecallOptions } from './recall/recall-options.ts';
import { type RecallResult, recallViolationsOf, renderRecall } from './recall/recall-report.ts';
import { ownersOf } from './recall/tenants-of.ts';

/* Whether the nearest memories are found, and what that takes, among 100,000 of very uneven tenants. See docs/performance.md. */

const DIMENSIONS = 256;

async function measure(options: RecallOptions): Promise<RecallResult> {
  const database = await open(options);
  try {
    return await measureOn(database, options);
  } finally {
    await database.close();
  }
}

async function open({ isPglite, database }: RecallOptions): Promise<RecallDatabase> {
  if (isPglite) return await openRecallPglite();
  if (database !== undefined) return await openRecallServer(database);
  const server = await startDebianServer({ fsync: true });
  const opened = await openRecallServer(server.url);
  const close = async (): Promise<void> => {
    await opened.close();
    await server.stop();
  };
  return { ...opened, close };
}

async function measureOn(database: RecallDatabase, options: RecallOptions): Promise<RecallResult> {
  const vectors = new Map<string, number[]>();
  const memory = { embedder: embedderOf(vectors) };
  // The owner makes the table for the vectors; what is measured has the application's role.
  await (await openRuntime(database.ownerAdapter(), 'auto', memory)).close();
  const made = new ClusteredMemories({ dimensions: DIMENSIONS });
  const owners = ownersOf(options.sizes);
  const vectorSchema = await schemaOfVector(database);
  const filled = await fillMemories(database.owner, owners, made, `${vectorSchema}.vector`);
  await database.owner.query('VACUUM ANALYZE turnlock.agent_memories');
  await database.owner.query('VACUUM ANALYZE turnlock.agent_memory_embeddings');
  const sizes = [];
  await using runtime = await openRuntime(database.adapter(), 'check', memory);
  for (const { memories } of options.sizes) {
    sizes.push(
      await measureSize({ ...database, runtime, vectorSchema, vectors }, made, {
        owners: owners.filter((one) => one.memories === memories),
        samples: filled.samples,
        queries: options.queries,
      }),
    );
  }
  const ingestion = {
    memoriesInBatches: filled.memoriesPerSecond,
    vectorsInBatches: filled.vectorsPerSecond,
    ...(await ingest(database, options, made, vectors)),
  };
  return {
    machine: database.machine,
    rows: filled.rows,
    tenants: owners.length,
    dimensions: DIMENSIONS,
    sizes,
    ingestion,
    violations: recallViolationsOf(sizes),
  };
}

/** `remember` in a runtime without an embedder, then in one with it until every memory has its vector. */
async function ingest(
  database: RecallDatabase,
  { remembered }: RecallOptions,
  made: ClusteredMemories,
  vectors: Map<string, number[]>,
): Promise<{ remembered: number; rememberedWithVectors: number }> {
  const topics = made.topicsOf(Number.POSITIVE_INFINITY);
  const batch = () => Array.from({ length: remembered }, () => made.memory(topics));
  const owner = { tenantId: 'ingestion', userId: 'user' };
  const rateOf = async (userId: string, embedder?: Embedder): Promise<number> => {
    await using runtime = await openRuntime(database.adapter(), 'check', embedder === undefined ? {} : { embedder });
    const memories = batch();
    for (const { content, vector } of memories) vectors.set(content, vector);
    const isEmbedded = async () => {
      if (embedder === undefined) return true;
      const [held] = await database.owner.query(
        `SELECT count(*)::int AS vectors FROM turnlock.agent_memory_embeddings WHERE tenant_id = $1 AND user_id = $2`,
        [owner.tenantId, userId],
      );
      return held.vectors === memories.length;
    };
    return await measureIngestion(runtime, { ...owner, userId }, memories, isEmbedded);
  };
  return { remembered: await rateOf('plain'), rememberedWithVectors: await rateOf('embedded', embedderOf(vectors)) };
}

/** Warnings say that the owner may all, and that the server was told not to flush: the report names the second. */
function openRuntime(
  database: DatabaseAdapter,
  migrate: 'auto' | 'check',
  memory: { embedder?: Embedder },
): Promise<Runtime> {
  return createRuntime({ database, agents: [idleAgent], migrate, memory, onWarning: () => undefined });
}

/** An embedder that takes no time: it looks up what the benchmark has made. */
function embedderOf(vectors: ReadonlyMap<string, number[]>): Embedder {
  return {
    modelId: 'bench',
    dimensions: DIMENSIONS,
    maxBatch: 96,
    async embed(texts) {
      return texts.map((text) => vectors.get(text) as number[]);
    },
  };
}

async function schemaOfVector({ owner }: RecallDatabase): Promise<string> {
  const [found] = await owner.query(
    `SELECT quote_ident(n.nspname) AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'`,
  );
  return found.schema;
}

const options = readRecallOptions(process.argv.slice(2));
if (options === null) {
  process.stdout.write(RECALL_USAGE);
} else {
  const result = await measure(options);
  process.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : renderRecall(result));
  process.exitCode = result.violations.length > 0 ? 1 : 0;
}
