import { withoutComments } from './find-imports.ts';
import { NONDETERMINISM_ALLOWED, PRODUCT, SQL_ALLOWED } from './layers.ts';
import type { SourceFiles } from './source-files.ts';

interface Rule {
  readonly finds: RegExp;
  readonly says: string;
  readonly appliesTo: (path: string) => boolean;
}

const RULES: readonly Rule[] = [
  {
    finds:
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b|\bset(?:Timeout|Interval|Immediate)\b|\bAbortSignal\.timeout\b|\bperformance\.now\b|\bhrtime\b|\btimers\/promises\b/,
    says: 'clock, chance and ids enter through environment.ts alone',
    appliesTo: (path) => !NONDETERMINISM_ALLOWED.test(path),
  },
  {
    finds:
      /['"`]\s*(?:SELECT|INSERT\s+INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM|WITH\s+\S+\s+AS|CREATE|ALTER|DROP|BEGIN|COMMIT|ROLLBACK|SET\s+LOCAL|NOTIFY|LISTEN)\b(?!['"`])/,
    says: 'SQL is written in persistence, database adapters and migrations alone',
    appliesTo: (path) => !SQL_ALLOWED.test(path),
  },
  {
    finds: /\binvoke\s*:|\bafter\s*:|\basync\b|\bawait\b|\bPromise\b|\bfromPromise\b|\bprocess\./,
    says: 'machines are pure: no promises, no invoke, no after, no process',
    appliesTo: (path) => path.startsWith('machines/'),
  },
];

/** Finds in the product's sources what reads the clock, writes SQL or makes a machine impure, one line for each place. */
export function findImpurities(files: SourceFiles): string[] {
  return [...files].flatMap(([path, text]) => {
    if (!path.endsWith('.ts') || !PRODUCT.test(path)) return [];
    const rules = RULES.filter((rule) => rule.appliesTo(path));
    const lines = withoutComments(text).split('\n');
    return lines.flatMap((line, index) =>
      rules.flatMap((rule) => {
        const found = rule.finds.exec(line);
        return found ? [`${path}:${index + 1}: ${found[0].trim()}: ${rule.says}`] : [];
      }),
    );
  });
}
