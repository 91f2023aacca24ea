import { parseArgs } from 'node:util';
import { BENCH_FLAGS } from './bench-flags.ts';

/** What a run of the benchmark of long sessions is told. */
export interface LongSessionOptions {
  /** Turns that each session comes to: a message and a reply in each run. */
  turns: number;
  /** Budget of the agent that has one. */
  maxTokens: number;
  json: boolean;
  /** A server to use in place of one of our own. */
  database: string | undefined;
}

export const LONG_SESSION_USAGE = `Usage: npm run bench:long-session -- [options]

Measures what a run costs as its session grows, with a budget for what the model is given and without one: two sessions,
run by run in turns, the summaries among them. On a PostgreSQL of its own that is gone afterwards.

  --turns <n>       turns that each session comes to (default 2000)
  --tokens <n>      the budget (default 4000)
  --quick           400 turns: the short form for CI, under a minute
  --json            one JSON object in place of the table
  --database <url>  use this server instead, as a role that may create databases and roles
  --help            this text

Exits with 1 when a model was given more than the budget or a history that is not valid, or when a run of the last tenth
takes 30 % more statements than one of the first, both with a budget.
`;

/** Reads the command line; `null` asks for the usage. */
export function readLongSessionOptions(args: string[]): LongSessionOptions | null {
  const options = { turns: { type: 'string' }, tokens: { type: 'string' }, ...BENCH_FLAGS } as const;
  const { values } = parseArgs({ args, options });
  if (values.help) return null;
  const { quick, json, database } = values;
  const turns = whole('--turns', values.turns ?? (quick ? '400' : '2000'), 100);
  return { turns, maxTokens: whole('--tokens', values.tokens ?? '4000', 500), json, database };
}

function whole(name: string, given: string, least: number): number {
  const value = Number(given);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`${name}: found ${given}, wanted a whole number from ${least} on`);
}
