/** The parts of package.json that say what is published. */
export interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
}

/** The source file of every entry point: `./dist/x/y.js` is built from `x/y.ts`. */
export function entrySources(manifest: Manifest): ReadonlySet<string> {
  const built = [...Object.values(manifest.exports), ...Object.values(manifest.bin)].map((entry) =>
    typeof entry === 'string' ? entry : entry.default,
  );
  return new Set(
    built.filter((path) => path.endsWith('.js')).map((path) => path.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts')),
  );
}
