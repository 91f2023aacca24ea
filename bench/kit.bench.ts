import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../index.ts';
import { checkToolPolicy, type ToolPolicyCheck } from '../testing/check-tool-policy.ts';

/*
 * How many runs of the kit a second holds: a tool with nothing wrong, so that all runs are played. `--runs` sets how many; `--server` plays
 * them on a server too, which is started here, or on the one that `--database` leads to.
 */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    server: { type: 'boolean', default: false },
    database: { type: 'string' },
  },
});
const numRuns = Number(values.runs);

let executions = 0;
const check: ToolPolicyCheck<Set<string>> = {
  world: () => new Set<string>(),
  tools: (paid, worker) => [
    defineTool({
      name: 'refund',
      description: 'Pays an order back.',
      inputSchema: z.object({ order: z.string(), cents: z.int() }),
      effect: 'idempotent',
      async execute({ order }, { idempotencyKey }) {
        await worker.at('before the bank');
        paid.add(idempotencyKey);
        await worker.at('after the bank');
        return { order };
      },
    }),
  ],
  calls: { refund: fc.record({ order: fc.constantFrom('1', '2'), cents: fc.constantFrom(50, 500) }) },
  invariants: {
    'it is counted': (seen) => {
      executions += seen.executions.length;
    },
  },
  numRuns,
  seed: 1,
};

/** Plays the runs. On a server the time of processors is this process's, without the server's. */
async function measure(where: string, database: NonNullable<ToolPolicyCheck<unknown>['database']>): Promise<void> {
  executions = 0;
  // A run alone: what is opened and compiled first is no part of what a run takes.
  const opening = performance.now();
  await checkToolPolicy({ ...check, database, numRuns: 1 });
  const begun = performance.now();
  const before = process.cpuUsage();
  executions = 0;
  const report = await checkToolPolicy({ ...check, database });
  const seconds = (performance.now() - begun) / 1_000;
  const cpu = process.cpuUsage(before);
  const lines = [
    `opening it, and one run: ${((begun - opening) / 1_000).toFixed(1)} s`,
    `${report.runs} runs with ${executions} calls: ${seconds.toFixed(1)} s, ${(report.runs / seconds).toFixed(1)} runs a second`,
    `time of processors in this process: ${((cpu.user + cpu.system) / 1_000 / report.runs).toFixed(0)} ms a run`,
  ];
  for (const line of lines) console.log(`${where}: ${line}`);
  if (report.ok) return;
  console.log(report.failure?.text);
  process.exitCode = 1;
}

console.log(`load ${loadavg()[0]?.toFixed(1)}`);
await measure('PGlite', 'pglite');
if (values.database !== undefined) {
  await measure('server', { url: values.database });
} else if (values.server) {
  const { startEmbeddedServer } = await import('../test/support/embedded-server.ts');
  const server = await startEmbeddedServer({ fsync: true });
  await measure('server', { url: server.url }).finally(() => server.stop());
}
console.log(`load ${loadavg()[0]?.toFixed(1)}`);
