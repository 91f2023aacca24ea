import type { Runtime } from '../../index.ts';
import { seededRandom } from '../seeded-random.ts';
import type { LabelledMemory, Labels } from './read-labels.ts';
import { boundsOfMean, METRICS, meanOf, type Retrieval, retrievalOf } from './retrieval-metrics.ts';

export const WAYS = ['text', 'vector', 'hybrid'] as const;

export type Way = (typeof WAYS)[number];

/** How each way answered the queries of one type, or all. */
export interface TypeQuality {
  type: string;
  queries: number;
  by: Record<Way, Retrieval>;
}

/** By how much hybrid is above one half alone, with the bounds of 95 %. */
export interface Advantage {
  over: 'text' | 'vector';
  of: keyof Retrieval;
  mean: number;
  low: number;
  high: number;
}

export interface Quality {
  /** Which text search configuration the memories were stored with. */
  languages: string;
  all: TypeQuality;
  types: TypeQuality[];
  advantages: Advantage[];
}

const TENANT = 'labels';

/** Stores the labelled memories and asks every query each way. */
export async function measureQuality(
  runtime: Runtime,
  { memories, queries }: Labels,
  { languages, languageOf }: { languages: string; languageOf(memory: LabelledMemory): string },
): Promise<Quality> {
  const labelOf = new Map<string, string>();
  for (const memory of memories) {
    const { user: userId, kind, content } = memory;
    const language = languageOf(memory);
    const handle = runtime.memory({ tenantId: TENANT, userId });
    const { memoryId } = await handle.remember({ kind, content, language }, { embed: 'before' });
    labelOf.set(memoryId, memory.id);
  }
  const asked: { type: string; by: Record<Way, Retrieval> }[] = [];
  for (const { user: userId, query, relevant, type } of queries) {
    const by = {} as Record<Way, Retrieval>;
    for (const way of WAYS) {
      const { memories: found } = await runtime
        .memory({ tenantId: TENANT, userId })
        .recall({ query, by: way, limit: 10 });
      by[way] = retrievalOf(
        found.map(({ memoryId }) => labelOf.get(memoryId) ?? ''),
        relevant,
      );
    }
    asked.push({ type, by });
  }
  const types = [...Map.groupBy(asked, ({ type }) => type)].map(([type, ofType]) => qualityOf(type, ofType));
  return { languages, all: qualityOf('all', asked), types, advantages: advantagesOf(asked) };
}

function qualityOf(type: string, asked: readonly { by: Record<Way, Retrieval> }[]): TypeQuality {
  const means = WAYS.map((way) => [way, meanOf(asked.map(({ by }) => by[way]))] as const);
  return { type, queries: asked.length, by: Object.fromEntries(means) as Record<Way, Retrieval> };
}

function advantagesOf(asked: readonly { by: Record<Way, Retrieval> }[]): Advantage[] {
  return (['text', 'vector'] as const).flatMap((over) =>
    METRICS.map((of) => {
      const differences = asked.map(({ by }) => by.hybrid[of] - by[over][of]);
      const [low, high] = boundsOfMean(differences, seededRandom(1));
      const mean = differences.reduce((sum, one) => sum + one, 0) / differences.length;
      return { over, of, mean, low, high };
    }),
  );
}
