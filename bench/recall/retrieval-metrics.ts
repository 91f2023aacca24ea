/** How well one query was answered, each from 0 to 1. */
export interface Retrieval {
  /** The share of the relevant ones among the first 5, and among the first 10. */
  recallAt5: number;
  recallAt10: number;
  /** 1 over the place of the first relevant one; 0 where none is among the first 10. */
  reciprocalRank: number;
  /** Discounted gain of the first 10 over that of the best order (Järvelin and Kekäläinen, 2002), a memory being relevant or not. */
  ndcgAt10: number;
}

export const METRICS = ['recallAt5', 'recallAt10', 'reciprocalRank', 'ndcgAt10'] as const satisfies (keyof Retrieval)[];

/** @param found the ids that were found, best first, each once. */
export function retrievalOf(found: readonly string[], relevant: readonly string[]): Retrieval {
  const isRelevant = found.slice(0, 10).map((id) => relevant.includes(id));
  const hits = (first: number) => isRelevant.slice(0, first).filter(Boolean).length;
  const place = isRelevant.indexOf(true);
  const best = relevant.slice(0, 10).map(() => true);
  return {
    recallAt5: hits(5) / relevant.length,
    recallAt10: hits(10) / relevant.length,
    reciprocalRank: place < 0 ? 0 : 1 / (place + 1),
    ndcgAt10: gainOf(isRelevant) / gainOf(best),
  };
}

function gainOf(isRelevant: readonly boolean[]): number {
  return isRelevant.reduce((sum, isOne, index) => sum + (isOne ? 1 / Math.log2(index + 2) : 0), 0);
}

/** The mean of each. */
export function meanOf(retrievals: readonly Retrieval[]): Retrieval {
  const means = METRICS.map((metric) => {
    const sum = retrievals.reduce((total, one) => total + one[metric], 0);
    return [metric, sum / retrievals.length] as const;
  });
  return Object.fromEntries(means) as unknown as Retrieval;
}

/**
 * Between which bounds the mean of `differences` lies with 95 %, by drawing as many of them again and again (the percentile bootstrap of
 * Efron, 1979). `random` gives numbers from 0 inclusive to 1 exclusive.
 */
export function boundsOfMean(differences: readonly number[], random: () => number, draws = 2_000): [number, number] {
  const count = differences.length;
  const means = Array.from({ length: draws }, () => {
    let sum = 0;
    for (let drawn = 0; drawn < count; drawn += 1) sum += differences[Math.floor(random() * count)] ?? 0;
    return sum / count;
  }).sort((one, other) => one - other);
  const at = (share: number) => means[Math.min(draws - 1, Math.floor(share * draws))] ?? Number.NaN;
  return [at(0.025), at(0.975)];
}
