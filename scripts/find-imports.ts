/** One import or re-export of a file. */
export interface ImportOf {
  readonly specifier: string;
  readonly isTypeOnly: boolean;
  readonly isReExport: boolean;
}

/** A statement: keyword, what is named, the path. Strings and comments inside the named part end the match. */
const STATEMENT = /^[ \t]*(import|export)\b([^'"`;()]*?)\bfrom\s*(['"])([^'"\n]+)\3/gm;
const BARE_OR_DYNAMIC = /(?:^[ \t]*import\s*|\bimport\()\s*(['"])([^'"\n]+)\1/gm;

/** Finds what a TypeScript source imports, by its text: the compiler in use has no programming interface. */
export function findImports(source: string): ImportOf[] {
  const code = withoutComments(source);
  const statements = [...code.matchAll(STATEMENT)].map(([, keyword, named = '', , specifier = '']) => ({
    specifier,
    isTypeOnly: /^\s*type\b(?!\s*,|\s+from)/.test(named) || namesOnlyTypes(named),
    isReExport: keyword === 'export',
  }));
  const others = [...code.matchAll(BARE_OR_DYNAMIC)].map(([, , specifier = '']) => ({
    specifier,
    isTypeOnly: false,
    isReExport: false,
  }));
  return [...statements, ...others];
}

/** Blanks out comments and leaves strings, in which `//` is no comment. Lines keep their numbers. */
export function withoutComments(source: string): string {
  return source.replace(
    /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (match, string) => string ?? match.replace(/[^\n]/g, ' '),
  );
}

function namesOnlyTypes(named: string): boolean {
  const list = /^\s*\{([\s\S]*)\}\s*$/.exec(named)?.[1];
  const names = list?.split(',').filter((name) => name.trim() !== '') ?? [];
  return names.length > 0 && names.every((name) => /^\s*type\s/.test(name));
}
