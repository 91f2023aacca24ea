import type { SourceFiles } from './source-files.ts';

/** No TypeScript file is longer. */
export const MAX_LINES = 400;

interface Rule {
  readonly finds: RegExp;
  readonly says: string;
}

// The patterns are written so that they do not find themselves.
const MACHINE_PATH = /(?<![\w.])\/(?:wor[k]|tm[p]|hom[e]|roo[t]|Users)\/\w/;
const RULES: readonly Rule[] = [
  { finds: MACHINE_PATH, says: 'a path of somebody’s machine' },
  { finds: /registry\.[\w.-]+\/|npmj[s]\.(?:org|com)|verdacci[o]/, says: 'a registry’s host' },
  { finds: /\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b/, says: 'an open mark: do it, or write it down as a limit' },
];

const UNREADABLE = /\.(png|jpg|ico|wasm|tgz|gz)$/;
const GENERATED = /\.generated\.|^package-lock\.json$/;

/** The beginning of a path that names somebody’s machine; `null` when `text` has none. */
export function findMachinePath(text: string): string | null {
  return MACHINE_PATH.exec(text)?.[0] ?? null;
}

/** Checks every file for machine paths, registry hosts and open marks, and TypeScript files for their length. */
export function findTextViolations(files: SourceFiles): string[] {
  return [...files].flatMap(([path, text]) => {
    if (UNREADABLE.test(path)) return [];
    const lines = text.split('\n');
    const marks = lines.flatMap((line, index) =>
      RULES.flatMap(({ finds, says }) => {
        const found = finds.exec(line);
        return found ? [`${path}:${index + 1}: ${found[0]}: ${says}`] : [];
      }),
    );
    const isLong = path.endsWith('.ts') && !GENERATED.test(path) && lines.length - 1 > MAX_LINES;
    return isLong ? [...marks, `${path}: ${lines.length - 1} lines, at most ${MAX_LINES}`] : marks;
  });
}
