/** The value below which `share` (0 to 1) of `values` lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The middle one of `values`. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** How far apart the two values are, as a share of the smaller one: 0 is equal. */
export function difference(one: number, other: number): number {
  return Math.max(one, other) / Math.min(one, other) - 1;
}
