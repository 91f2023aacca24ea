import { relative } from 'node:path';
import type { Proof } from './read-proofs.ts';
import { runnersOf } from './test-titles.ts';

/** A report of vitest's `json` reporter, as far as it tells what ran. */
export interface TestReport {
  testResults: readonly {
    /** The absolute path of the test file. */
    name: string;
    assertionResults: readonly { ancestorTitles: readonly string[]; title: string; status: string }[];
  }[];
}

/** A file that is run on more than one database counts once it has passed on each. */
const DATABASES = [/pglite|embedded/, /postgres|server/];

/**
 * The proofs of which `reports` do not say that they passed, one line each. A title stands as in its source: what a case puts there may be
 * anything. `sources` are the test sources by path; `folder` is where the paths begin.
 */
export function findUnproven(
  proofs: readonly Proof[],
  reports: readonly TestReport[],
  { sources, folder }: { sources: ReadonlyMap<string, string>; folder: string },
): string[] {
  const passed = passedTitles(reports, folder);
  return proofs.flatMap(({ path, title }) => {
    const runners = runnersOf(path, sources);
    const pattern = patternOf(title);
    const hasPassed = (files: readonly string[]) =>
      files.some((file) => passed.get(file)?.some((passedTitle) => pattern.test(passedTitle)));
    const groups = path.endsWith('-suite.ts')
      ? DATABASES.map((kind) => runners.filter((runner) => kind.test(runner))).filter((files) => files.length > 0)
      : [runners];
    const missing = groups.filter((files) => !hasPassed(files));
    if (groups.length > 0 && missing.length === 0) return [];
    const where = path.endsWith('-suite.ts') ? ` (in ${missing.flat().join(', ') || 'no file that runs it'})` : '';
    return [`${path} “${title}” did not run and pass${where}`];
  });
}

/** The titles of every test that passed, and of the groups around it, by test file. */
function passedTitles(reports: readonly TestReport[], folder: string): ReadonlyMap<string, readonly string[]> {
  const titles = new Map<string, string[]>();
  for (const { testResults } of reports) {
    for (const { name, assertionResults } of testResults) {
      const file = relative(folder, name);
      const found = assertionResults.filter(({ status }) => status === 'passed');
      const ofFile = found.flatMap(({ ancestorTitles, title }) => [...ancestorTitles, title]);
      titles.set(file, [...(titles.get(file) ?? []), ...ofFile]);
    }
  }
  return titles;
}

/** A title with what each case puts there: `$name`, `%s`, and `${…}` of a template. */
function patternOf(title: string): RegExp {
  const parts = title.split(/\$\{[^}]*\}|\$[\w.]+|%[sdifjoOc#]/);
  const literal = parts.map((part) => part.replaceAll('%%', '%').replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[\\s\\S]*')}$`);
}
