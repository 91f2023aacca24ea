/** What package.json says that the tarball has to keep. */
export interface PackedManifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly sideEffects?: unknown;
}

/** The files of a tarball by path, without the leading `package/`. */
export type PackedFiles = ReadonlyMap<string, string>;

/** No tarball is larger, in bytes; it is {@link MAX_UNPACKED_BYTES} once unpacked. */
export const MAX_PACKED_BYTES = 1_100_000;
/** No package is larger, in bytes. */
export const MAX_UNPACKED_BYTES = 6_500_000;

const BESIDE_DIST = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
const BUILT =
  /^dist\/(?!(?:test|bench|scripts|examples|docs)\/)(?!.*\.(?:test|bench|property)\.)[\w./-]+\.(?:js|d\.ts)$/;
const SOURCE_MAP = /^\/\/# sourceMappingURL=/m;

/** What a published package must not hold, or lacks, one sentence each. `machinePath` finds what names a machine. */
export function findTarballViolations(
  files: PackedFiles,
  manifest: PackedManifest,
  machinePath: (text: string) => string | null,
): string[] {
  const paths = [...files.keys()];
  const bytes = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return [
    ...BESIDE_DIST.filter((path) => !files.has(path)).map((path) => `${path} is missing`),
    ...paths
      .filter((path) => !BESIDE_DIST.includes(path) && !BUILT.test(path))
      .map((path) => `${path} does not belong into the package`),
    ...[...files].flatMap(([path, text]) => {
      const found = machinePath(text);
      return [
        ...(found === null ? [] : [`${path} names a path of a machine: ${found}`]),
        ...(SOURCE_MAP.test(text) ? [`${path} names a source map`] : []),
      ];
    }),
    ...Object.entries(manifest.exports).flatMap(([entry, target]) => findEntryViolations(entry, target, files)),
    ...Object.values(manifest.bin)
      .filter((path) => !files.get(path.replace(/^\.\//, ''))?.startsWith('#!/usr/bin/env node\n'))
      .map((path) => `${path} is a command and does not begin with the line that runs it on Node`),
    ...(manifest.sideEffects === false ? [] : ['sideEffects is not false, so bundlers keep what nobody uses']),
    ...(bytes > MAX_UNPACKED_BYTES ? [`${bytes} bytes unpacked, at most ${MAX_UNPACKED_BYTES}`] : []),
  ];
}

function findEntryViolations(entry: string, target: unknown, files: PackedFiles): string[] {
  const targets = typeof target === 'string' ? { default: target } : (target as Record<string, string>);
  const missing = Object.values(targets).filter((path) => !files.has(path.replace(/^\.\//, '')));
  const isOrdered = typeof target === 'string' || Object.keys(targets).join() === 'types,default';
  return [
    ...missing.map((path) => `${entry} leads to ${path}, which is not there`),
    ...(isOrdered ? [] : [`${entry} has the conditions ${Object.keys(targets).join(', ')}, wanted types, default`]),
  ];
}
