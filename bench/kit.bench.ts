import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../index.ts';
import { checkToolPolicy } from '../testing/check-tool-policy.ts';
import { PgliteLoan } from '../testing/database/pglite-loan.ts';

/*
 * How many runs of the kit a second holds: a tool with nothing wrong, so that all runs are played. `--runs` sets how many.
 */

const { values } = parseArgs({ options: { runs: { type: 'string', default: '200' } } });
const numRuns = Number(values.runs);

const startedAt = performance.now();
const loan = new PgliteLoan();
const database = await loan.database();
loan.giveBack();
const opened = performance.now();
console.log(`opening a PGlite: ${((opened - startedAt) / 1_000).toFixed(1)} s`);

let executions = 0;
const before = process.cpuUsage();
const began = performance.now();
const report = await checkToolPolicy({
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
});
const seconds = (performance.now() - began) / 1_000;
const cpu = process.cpuUsage(before);
console.log(
  `${report.runs} runs with ${executions} calls: ${seconds.toFixed(1)} s, ${(report.runs / seconds).toFixed(1)} runs a second`,
);
console.log(`time of processors: ${((cpu.user + cpu.system) / 1_000 / report.runs).toFixed(0)} ms a run`);
if (!report.ok) console.log(report.failure?.text);
await database.close();
process.exitCode = report.ok ? 0 : 1;
