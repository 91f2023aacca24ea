import { parseArgs } from 'node:util';
import { BENCH_FLAGS } from './bench-flags.ts';

/** What a run of the audit benchmark is told. */
export interface AuditOptions {
  /** Runs with one tool call each in the short session and in the long one: four transitions, four turns a run. */
  short: number;
  long: number;
  /** How often each thing is timed. */
  samples: number;
  json: boolean;
  /** A server to use in place of one of our own. */
  database: string | undefined;
}

export const AUDIT_USAGE = `Usage: npm run bench:audit -- [options]

Measures what verifying, replaying, exporting and forking a session with 10,000 transitions takes, beside one with 1,000:
time, statements, and the memory that is held meanwhile. On a PostgreSQL of its own that is gone afterwards.

  --quick           400 and 2,000 transitions: the short form for CI, under half a minute
  --json            one JSON object in place of the table
  --database <url>  use this server instead, as a role that may create databases and roles
  --help            this text

Exits with 1 when something is found in a session that is whole, when the long session holds more than 16 MB more memory
than the short one, or when a fork of it is more statements.
`;

/** Reads the command line; `null` asks for the usage. */
export function readAuditOptions(args: string[]): AuditOptions | null {
  const { values } = parseArgs({ args, options: BENCH_FLAGS });
  if (values.help) return null;
  const { quick, json, database } = values;
  return { short: quick ? 100 : 250, long: quick ? 500 : 2_500, samples: quick ? 2 : 5, json, database };
}
