import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { openBenchDatabase } from './bench-database.ts';
import { BENCH_FLAGS } from './bench-flags.ts';
import { describeMachine, type Machine } from './machine.ts';
import { type Compared, type Measured, measureIsolation, SESSIONS, TENANTS, TURNS } from './measure-isolation.ts';

/*
 * What row-level security costs by itself: a commit, the reading of a history and a list of sessions by a role that the policies hold for, and
 * by one that bypasses them.
 */

const USAGE = `Usage: npm run bench:isolation -- [options]

  --rounds <n>      rounds, of four samples of each measurement (default 150)
  --quick           10 rounds
  --json            one JSON object in place of the table
  --database <url>  use this server instead, as a superuser
`;

interface Result {
  machine: Machine;
  /** When it ended. */
  load: number;
  isolation: Record<Measured, Compared>;
}

async function measure(rounds: number, server: string | undefined): Promise<Result> {
  const database = await openBenchDatabase(server);
  try {
    const machine = await describeMachine(database.owner);
    const isolation = await measureIsolation(database, rounds);
    return { machine, load: Number(loadavg()[0]?.toFixed(1)), isolation };
  } finally {
    await database.drop();
  }
}

function render({ machine, load, isolation }: Result): string {
  const { date, cpu, cores, node, server } = machine;
  const row = (name: string, { with: own, without, samples }: Compared) => {
    const ratios = [own.p50 / without.p50, own.p95 / without.p95].map((ratio) => ratio.toFixed(3));
    const ms = [own.p50, without.p50, own.p95, without.p95].map((one) => one.toFixed(2));
    return `${name.padEnd(36)} ${ratios.join('  ')}   (p50 ${ms[0]} : ${ms[1]} ms, p95 ${ms[2]} : ${ms[3]} ms, ${samples} samples)`;
  };
  return [
    `${date}, ${cpu}, ${cores} cores (load ${machine.load} to ${load}), Node ${node}, ${server}`,
    'Row-level security : none, in turns',
    '',
    `${' '.repeat(36)} p50    p95`,
    row('one commit', isolation.commit),
    row(`a history of ${TURNS} turns`, isolation.history),
    row(`a list of 50 of ${TENANTS * SESSIONS} sessions`, isolation.list),
    '',
  ].join('\n');
}

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { rounds: { type: 'string' }, ...BENCH_FLAGS },
});
if (values.help) {
  process.stdout.write(USAGE);
} else {
  const result = await measure(values.quick ? 10 : Number(values.rounds ?? 150), values.database);
  process.stdout.write(values.json ? `${JSON.stringify(result, null, 2)}\n` : render(result));
}
