import { parseArgs } from 'node:util';
import { BENCH_FLAGS } from './bench-flags.ts';

/** What a run of the memory benchmark is told. */
export interface MemoryOptions {
  /** The run after which the heap is measured first, and the one after which it is measured last. */
  first: number;
  last: number;
  /** Seconds for which the worker finds nothing before it is measured. */
  idleSeconds: number;
  json: boolean;
  /** A server to use in place of one of our own. */
  database: string | undefined;
}

export const MEMORY_USAGE = `Usage: npm run bench:memory -- [options]

Measures what stays in memory: the heap of a process after 100 and after 1,000 runs, and the resident set of an idle
worker that has the package as it is built (npm run build). On a PostgreSQL of its own that is gone afterwards.

  --quick           100 and 400 runs, a shorter rest: the short form for CI, under a minute
  --json            one JSON object in place of the table
  --database <url>  use this server instead, as a role that may create databases and roles
  --help            this text

Exits with 1 when the heap of the last run is more than 20 % larger than that of run 100, or the idle worker has more
than 150 MB resident.
`;

/** Reads the command line; `null` asks for the usage. */
export function readMemoryOptions(args: string[]): MemoryOptions | null {
  const { values } = parseArgs({ args, options: BENCH_FLAGS });
  if (values.help) return null;
  const { quick, json, database } = values;
  return { first: 100, last: quick ? 400 : 1_000, idleSeconds: quick ? 3 : 15, json, database };
}
