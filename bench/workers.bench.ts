import { endOnSignals } from '../adapters/cli/children/end-on-signals.ts';
import { openBenchDatabase } from './bench-database.ts';
import { describeMachine } from './machine.ts';
import { measureClaims } from './measure-claims.ts';
import { measureTakeover } from './measure-takeover.ts';
import { measureWorkers } from './measure-workers.ts';
import { readWorkersOptions, WORKERS_USAGE, type WorkersOptions } from './workers-options.ts';
import { renderWorkersReport, type WorkersResult, workersViolationsOf } from './workers-report.ts';

/*
 * What workers do together: how many runs they make, how soon one takes over from another that died, and that looking for work costs the
 * same beside any number of sessions that sleep. See docs/performance.md for what came of it.
 */

async function measure(options: WorkersOptions): Promise<WorkersResult> {
  const database = await openBenchDatabase(options.database);
  try {
    const machine = await describeMachine(database.owner);
    const rates = await measureWorkers(database, options);
    const takeovers = await measureTakeover(database, options);
    const claims = await measureClaims(database, options);
    return { machine, options, rates, takeovers, claims, violations: workersViolationsOf(claims) };
  } finally {
    await database.drop();
  }
}

endOnSignals();
const options = readWorkersOptions(process.argv.slice(2));
if (options === null) {
  process.stdout.write(WORKERS_USAGE);
} else {
  const result = await measure(options);
  process.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : renderWorkersReport(result));
  process.exitCode = result.violations.length > 0 ? 1 : 0;
}
