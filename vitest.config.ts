import { randomInt } from 'node:crypto';
import { join, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** One seed for the whole run, so that every worker explores the same values and one number repeats the run. */
const seed = process.env.TURNLOCK_SEED ?? String(randomInt(2 ** 31));
const isCi = Boolean(process.env.CI);
const reportFolder = process.env.TURNLOCK_REPORTS;

const slow = ['docs', 'pglite', 'postgres', 'crash', 'long', 'apart', 'hostile', 'browser', 'vector'].map(
  (level) => `**/*.${level}.test.ts`,
);
const fuzzing = Number(process.env.TURNLOCK_FUZZ_MS ?? 0);

/** Counts for `.ci/run`, one file per run of vitest. */
function jsonReporter(): ['json', { outputFile: string }][] {
  return reportFolder ? [['json', { outputFile: join(reportFolder, `vitest-${process.pid}.json`) }]] : [];
}

/** A project is a level of test, told by the suffix of the file's name; groups run one after the other, cheapest first. */
function project(name: string, groupOrder: number, settings: Record<string, unknown>) {
  return { extends: true as const, test: { name, sequence: { groupOrder }, ...settings } };
}

/** Compiled code is kept from one process to the next: many tests start some, and Node compiles for longer than it runs. */
process.env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/turnlock-code');

/*
 * `isolate: false`: files share the two processes of the run. Loading everything anew for each file took longer than its tests.
 */
export default defineConfig({
  test: {
    env: { TURNLOCK_SEED: seed },
    sequence: { seed: Number(seed) },
    setupFiles: ['test/support/every-test.setup.ts'],
    exclude: ['node_modules', 'dist'],
    expect: { requireAssertions: true },
    allowOnly: false,
    passWithNoTests: false,
    reporters: ['default', './test/support/no-skips.setup.ts', ...jsonReporter()],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: (isCi ? 20_000 : 10_000) + fuzzing,
    hookTimeout: 60_000,
    projects: [
      project('unit', 1, { include: ['test/**/*.test.ts'], exclude: ['node_modules', ...slow], isolate: false }),
      // Compiles what the pages show, and reads what the entry points export: seconds, so it is no part of the quickest run.
      project('docs', 2, { include: ['test/**/*.docs.test.ts'], testTimeout: 60_000 }),
      project('types', 2, {
        include: [],
        typecheck: {
          enabled: true,
          only: true,
          include: ['test/**/*.test-d.ts'],
          tsconfig: 'tsconfig.types.json',
          ignoreSourceErrors: true, // `npm run typecheck` reports those
        },
      }),
      project('pglite', 3, {
        include: ['test/**/*.pglite.test.ts'],
        globalSetup: ['test/support/pglite-snapshot.setup.ts'],
        isolate: false,
        execArgv: ['--liftoff-only'], // optimising PostgreSQL's code takes more time than an instance of a few seconds gives back
        testTimeout: 60_000 + fuzzing,
      }),
      project('postgres', 4, {
        include: ['test/**/*.postgres.test.ts'],
        isolate: false,
        globalSetup: ['test/support/postgres-server.setup.ts'],
        testTimeout: 30_000 + fuzzing,
      }),
      project('crash', 5, {
        include: ['test/**/*.crash.test.ts'],
        globalSetup: ['test/support/postgres-server.setup.ts'],
        testTimeout: 120_000 + fuzzing,
      }),
      // Not part of `npm test`: many processes are started, a copy of the sources is made, or a large table is gone through.
      project('long', 6, {
        include: ['test/**/*.long.test.ts'],
        isolate: false,
        globalSetup: ['test/support/pglite-snapshot.setup.ts', 'test/support/postgres-server.setup.ts'],
        testTimeout: 240_000,
      }),
      // Part of the long level: what puts another module in the place of one of ours has a process to itself.
      project('apart', 6, {
        include: ['test/**/*.apart.test.ts'],
        globalSetup: ['test/support/pglite-snapshot.setup.ts', 'test/support/postgres-server.setup.ts'],
        testTimeout: 240_000,
      }),
      // Not part of `npm test`: it needs pgbouncer, and waits for time-outs.
      project('hostile', 7, {
        include: ['test/**/*.hostile.test.ts'],
        globalSetup: ['test/support/pgbouncer-there.setup.ts', 'test/support/postgres-server.setup.ts'],
        testTimeout: 60_000,
      }),
      // Not part of `npm test`: it needs Chromium.
      project('browser', 8, {
        include: ['test/**/*.browser.test.ts'],
        globalSetup: ['test/support/chromium-there.setup.ts', 'test/support/postgres-server.setup.ts'],
        testTimeout: 120_000,
      }),
      // Not part of `npm test`: it needs a server with pgvector.
      project('vector', 9, {
        include: ['test/**/*.vector.test.ts'],
        globalSetup: ['test/support/debian-server.setup.ts'],
        isolate: false,
        testTimeout: 60_000,
      }),
    ],
  },
});
