import { parseArgs } from 'node:util';
import { BENCH_FLAGS } from './bench-flags.ts';

/** What a run of the benchmark is told. */
export interface BenchOptions {
  /** Samples of each measurement. */
  runs: number;
  quick: boolean;
  json: boolean;
  /** A server to use in place of one of our own. */
  database: string | undefined;
}

export const USAGE = `Usage: npm run bench:commit -- [options]

Measures what a run costs, on a PostgreSQL of its own (fsync on) that is gone afterwards.

  --runs <n>        samples of each measurement (default 60)
  --quick           few samples: the short form for CI, under 30 seconds
  --json            one JSON object in place of the table
  --database <url>  use this server instead, as a role that may create databases and roles
  --help            this text

Exits with 1 when a run with one tool call is not four commits, or when a run in a session with 1,000 earlier turns
differs by more than 10 % from one in a new session in statements, round trips or bytes of WAL. Bytes are judged without
images of whole pages, so on a server of its own only: the settings of a given one are left alone.
`;

/** Reads the command line; `null` asks for the usage. */
export function readOptions(args: string[]): BenchOptions | null {
  const { values } = parseArgs({
    args,
    options: { runs: { type: 'string' }, ...BENCH_FLAGS },
  });
  if (values.help) return null;
  const { quick, json, database } = values;
  const runs = Number(values.runs ?? (quick ? 10 : 60));
  if (!Number.isInteger(runs) || runs < 5)
    throw new Error(`--runs: found ${values.runs}, wanted a whole number from 5 on`);
  return { runs, quick, json, database };
}
