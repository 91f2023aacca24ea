import { parseArgs } from 'node:util';
import { BENCH_FLAGS } from '../bench-flags.ts';
import { LARGE, QUICK, SMALL, type TenantSize } from './tenants-of.ts';

/** What a run of the recall benchmark is told. */
export interface RecallOptions {
  sizes: readonly TenantSize[];
  /** Queries for each size of tenants. */
  queries: number;
  /** Memories that are stored by `remember`, each way. */
  remembered: number;
  isPglite: boolean;
  json: boolean;
  /** A server to use in place of one of our own. */
  database: string | undefined;
}

export const RECALL_USAGE = `Usage: npm run bench:recall -- [options]

Measures recall over 100,000 memories of 256 dimensions, in topics, of 1,000 tenants of very uneven size: how many of the ten
nearest the vector half finds, what a hybrid query takes beside a plain vector query, and how fast memories come in. On a
PostgreSQL with pgvector of its own that is gone afterwards.

  --quick           5,000 memories of 85 tenants: the short form for CI
  --pglite          10,000 memories of 104 tenants on the embedded database
  --json            one JSON object in place of the table
  --database <url>  use this server with pgvector instead, as a role that may create databases, roles and the extension
  --help            this text

Exits with 1 when the vector half finds less than 95 % of the ten nearest, over all or of tenants with 50 memories, or fewer
than ten where there are as many.
`;

/** Reads the command line; `null` asks for the usage. */
export function readRecallOptions(args: string[]): RecallOptions | null {
  const { values } = parseArgs({ args, options: { ...BENCH_FLAGS, pglite: { type: 'boolean', default: false } } });
  if (values.help) return null;
  const { quick, pglite: isPglite, json, database } = values;
  const sizes = quick ? QUICK : isPglite ? SMALL : LARGE;
  return { sizes, queries: quick ? 40 : 200, remembered: quick ? 100 : 1_000, isPglite, json, database };
}
