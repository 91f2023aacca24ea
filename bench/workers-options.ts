import { parseArgs } from 'node:util';
import { BENCH_FLAGS } from './bench-flags.ts';

/** What a run of the benchmark of workers is told. */
export interface WorkersOptions {
  /** Runs of each combination of processes and sessions. */
  runs: number;
  /** Processes at work, and sessions that have work at the same time. */
  processes: readonly number[];
  sessions: readonly number[];
  /** Milliseconds of the leases of workers that are killed, and how many of each. */
  leases: readonly number[];
  deaths: number;
  /** Sessions that sleep while others are looked for, and looks. */
  sleepers: number;
  looks: number;
  json: boolean;
  /** A server to use in place of one of our own. */
  database: string | undefined;
}

export const WORKERS_USAGE = `Usage: npm run bench:workers -- [options]

Measures workers on a PostgreSQL of its own (fsync on) that is gone afterwards: runs per second with several processes
and sessions, the time from a worker's death to the takeover, and what a look for work costs beside 100,000 sessions
that sleep.

  --quick           one process, one death, 5,000 sleepers: the short form for CI
  --json            one JSON object in place of the table
  --database <url>  use this server instead, as a role that may create databases and roles
  --help            this text

Exits with 1 when a look for work reads sleeping sessions.
`;

const FULL = {
  runs: 160,
  processes: [1, 2, 4],
  sessions: [1, 4, 16],
  leases: [1_000, 3_000],
  deaths: 5,
  sleepers: 100_000,
  looks: 300,
};
const QUICK = { runs: 16, processes: [1], sessions: [4], leases: [500], deaths: 1, sleepers: 5_000, looks: 20 };

/** Reads the command line; `null` asks for the usage. */
export function readWorkersOptions(args: string[]): WorkersOptions | null {
  const { values } = parseArgs({ args, options: BENCH_FLAGS });
  if (values.help) return null;
  const { quick, json, database } = values;
  return { ...(quick ? QUICK : FULL), json, database };
}
