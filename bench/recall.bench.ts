import { createRuntime, type Embedder } from '../index.ts';
import { ClusteredMemories } from './recall/clustered-memories.ts';
import { fillMemories } from './recall/fill-memories.ts';
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
  return await openRecallServer(database as string);
}

async function measureOn(database: RecallDatabase, options: RecallOptions): Promise<RecallResult> {
  const vectors = new Map<string, number[]>();
  const memory = { embedder: embedderOf(vectors) };
  // The owner makes the table for the vectors; what is measured has the application's role.
  await (await createRuntime({ database: database.ownerAdapter(), agents: [], migrate: 'auto', memory })).close();
  const made = new ClusteredMemories({ dimensions: DIMENSIONS });
  const owners = ownersOf(options.sizes);
  const vectorSchema = await schemaOfVector(database);
  const filled = await fillMemories(database.owner, owners, made, `${vectorSchema}.vector`);
  await database.owner.query('VACUUM ANALYZE turnlock.agent_memories');
  await database.owner.query('VACUUM ANALYZE turnlock.agent_memory_embeddings');
  const sizes = [];
  await using runtime = await createRuntime({ database: database.adapter(), agents: [], migrate: 'check', memory });
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
    const given = embedder === undefined ? {} : { memory: { embedder } };
    await using runtime = await createRuntime({ database: database.adapter(), agents: [], migrate: 'check', ...given });
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
