import { openBenchDatabase } from './bench-database.ts';
import { LONG_SESSION_USAGE, type LongSessionOptions, readLongSessionOptions } from './long-session-options.ts';
import { type LongSessionResult, longSessionViolationsOf, renderLongSession } from './long-session-report.ts';
import { describeMachine } from './machine.ts';
import { measureLongSession } from './measure-long-session.ts';

/*
 * What a run costs as its session grows: that a budget holds for every call of a model, and that a run then costs the same however long
 * the session is. See docs/performance.md for what came of it.
 */

async function measure(options: LongSessionOptions): Promise<LongSessionResult> {
  const database = await openBenchDatabase(options.database);
  try {
    const machine = await describeMachine(database.owner);
    const cost = await measureLongSession(database, options);
    return { machine, options, cost, violations: longSessionViolationsOf(cost, options.maxTokens) };
  } finally {
    await database.drop();
  }
}

const options = readLongSessionOptions(process.argv.slice(2));
if (options === null) {
  process.stdout.write(LONG_SESSION_USAGE);
} else {
  const result = await measure(options);
  process.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : renderLongSession(result));
  process.exitCode = result.violations.length > 0 ? 1 : 0;
}
