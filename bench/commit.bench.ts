import { openBenchDatabase } from './bench-database.ts';
import { describeMachine } from './machine.ts';
import { measureCommit } from './measure-commit.ts';
import { measureGrowth } from './measure-growth.ts';
import { measureRun } from './measure-run.ts';
import { measureThroughput } from './measure-throughput.ts';
import { type BenchOptions, readOptions, USAGE } from './options.ts';
import { type BenchResult, renderReport } from './report.ts';
import { violationsOf } from './violations.ts';

/*
 * What a run costs: how many commits, statements and round trips, that none of it grows with the session, what the unit of work
 * costs beside SQL by hand, and how many runs one process makes. See docs/performance.md for what came of it.
 */

async function measure({ database: url, runs }: BenchOptions): Promise<BenchResult> {
  const database = await openBenchDatabase(url);
  try {
    const machine = await describeMachine(database.owner);
    const run = await measureRun(database.url);
    const commit = await measureCommit(database, runs);
    const throughput = await measureThroughput(database.url, runs);
    const growth = await measureGrowth(database, runs);
    return { machine, runs, run, growth, commit, throughput, violations: violationsOf(run, growth) };
  } finally {
    await database.drop();
  }
}

const options = readOptions(process.argv.slice(2));
if (options === null) {
  process.stdout.write(USAGE);
} else {
  const result = await measure(options);
  process.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : renderReport(result));
  process.exitCode = result.violations.length > 0 ? 1 : 0;
}
