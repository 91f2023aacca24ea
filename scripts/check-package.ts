import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

/** A project of a user: what it depends on besides the packed tarball. */
interface Consumer {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  /** Entries whose optional peers this consumer does not have. */
  readonly without: readonly string[];
}

const OLDEST_NODE = '22.18.0';
const OLDEST_MIKRO_ORM = '7.2.0';
const OLDEST_AI_SDK = '7.0.0';

const CONSUMERS: readonly Consumer[] = [
  {
    name: 'nothing but turnlock',
    dependencies: { node: manifest.devDependencies.node },
    without: ['./pglite', './ai-sdk'],
  },
  {
    name: `MikroORM ${OLDEST_MIKRO_ORM} on Node ${OLDEST_NODE}`,
    dependencies: {
      node: OLDEST_NODE,
      '@mikro-orm/core': OLDEST_MIKRO_ORM,
      '@mikro-orm/migrations': OLDEST_MIKRO_ORM,
      '@mikro-orm/postgresql': OLDEST_MIKRO_ORM,
      '@electric-sql/pglite': manifest.devDependencies['@electric-sql/pglite'],
      '@electric-sql/pglite-prepopulatedfs': manifest.devDependencies['@electric-sql/pglite-prepopulatedfs'],
      ai: OLDEST_AI_SDK,
    },
    without: [],
  },
];

const folder = mkdtempSync(join(tmpdir(), 'turnlock-package-'));
try {
  const tarball = pack(folder);
  for (const [index, consumer] of CONSUMERS.entries()) {
    console.log(`package: as used by ${consumer.name}`);
    tryAs(consumer, tarball, join(folder, String(index)));
  }
  console.log('package: every entry loads, runs and type-checks');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function pack(into: string): string {
  run('npm', ['pack', '--silent', '--pack-destination', into], '.');
  return join(into, `${manifest.name}-${manifest.version}.tgz`);
}

function tryAs(consumer: Consumer, tarball: string, into: string): void {
  const entries = Object.keys(manifest.exports)
    .filter((entry) => entry !== './package.json' && !consumer.without.includes(entry))
    .map((entry) => entry.replace(/^\./, manifest.name));
  mkdirSync(into);
  write(into, 'package.json', {
    name: 'consumer',
    private: true,
    type: 'module',
    dependencies: { ...consumer.dependencies, [manifest.name]: `file:${tarball}` },
    allowScripts: { node: true },
  });
  write(into, 'tsconfig.json', {
    compilerOptions: {
      module: 'nodenext',
      target: 'es2024',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
    },
    files: ['use.ts'],
  });
  const imports = entries.map((entry, index) => `import * as entry${index} from '${entry}';`);
  const lines = entries.map(
    (_, index) => `if (Object.keys(entry${index}).length === 0) throw new Error('${entries[index]}');`,
  );
  writeFileSync(join(into, 'use.ts'), [...imports, ...lines, ''].join('\n'));
  run('npm', ['install', '--silent', '--no-audit', '--no-fund'], into);
  run(resolve('node_modules/.bin/tsc'), ['-p', '.'], into);
  run('node', ['use.ts'], into);
  run('turnlock', ['--version'], into);
}

function write(into: string, name: string, content: unknown): void {
  writeFileSync(join(into, name), JSON.stringify(content, null, 2));
}

/** Runs a command with the folder's own binaries first, so that `node` is the consumer's. */
function run(command: string, args: readonly string[], cwd: string): void {
  const path = [resolve(cwd, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  execFileSync(command, args, { cwd, stdio: 'inherit', env: { ...process.env, PATH: path } });
}
