/** Where two stored snapshots differ: as JSON Pointers, down to the names in their context. */
export function snapshotDifferences(one: unknown, other: unknown): string[] {
  const paths = new Set([one, other].flatMap((snapshot) => pathsOf(snapshot)));
  return [...paths].filter((path) => !isSame(valueAt(one, path), valueAt(other, path))).sort();
}

function pathsOf(snapshot: unknown): string[] {
  const { context, ...rest } = (snapshot ?? {}) as { context?: object };
  const own = typeof context === 'object' && context !== null ? Object.keys(context) : [];
  return [...Object.keys(rest).map((name) => `/${name}`), ...own.map((name) => `/context/${name}`)];
}

/** What stands at one of those pointers. */
export function valueAt(snapshot: unknown, path: string): unknown {
  const names = path.slice(1).split('/');
  return names.reduce((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], snapshot);
}

/** Whether two values are the same JSON, whatever the order of their names. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [left, right] = [Object.entries(one), other as Record<string, unknown>];
  if (left.length !== Object.keys(other).length || Array.isArray(one) !== Array.isArray(other)) return false;
  return left.every(([name, value]) => Object.hasOwn(right, name) && isSame(value, right[name]));
}
