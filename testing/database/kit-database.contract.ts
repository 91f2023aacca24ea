import type { Environment } from '../../environment.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';

/** What a database needs to know of a process that may be lost. */
export interface Life {
  readonly environment: Environment;
  /** Whether it is paused: then it takes no connection. */
  readonly isPaused: boolean;
  /** Resolves once it is not paused; never, once it is dead. */
  alive(): Promise<void>;
}

/** What goes on in the database. `blocked`: all that is under way waits for locks that others hold. */
export type Stir = 'atRest' | 'blocked';

/** Where the kit plays: a database of its own, used by one run after the other. */
export interface KitDatabase {
  /** On PGlite all take turns on one connection; on a server their transactions overlap. */
  readonly kind: 'pglite' | 'postgres';
  /** What a process is given that may die: `destroy` ends its connections, and with them what they had under way: resolves
   * once the server has none of it any more. */
  mortalAdapter(life: Life): { adapter: DatabaseAdapter; destroy(): Promise<void> };
  /** Rows of a statement, past every runtime, as the owner of the tables. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  query(text: string, values?: unknown[]): Promise<any[]>;
  /** Sets the clock that leases and deadlines go by, in milliseconds since 1970: from here on every statement reads it. */
  setNow(ms: number): Promise<void>;
  /** Whether somebody has its one connection at this moment; on a server never. */
  readonly isHeld: boolean;
  /** Resolves once no statement is under way, or all of them wait for locks. Without a server nothing is ever under way. */
  settled(): Promise<Stir>;
  /** Resolves once one of those that wait for locks has gone on: the server ends each such wait after some seconds. Whether one did. */
  unblocked(): Promise<boolean>;
  /**
   * Copies what a run left into a new folder within `parent`, where the inspector can show it. Resolves to that folder; to `null` where somebody
   * holds the connection for ever, and on a server.
   */
  keepIn(parent: string): Promise<string | null>;
  /** Removes everything that a run left. Where somebody holds the connection for ever it is given up, and not to be used again. */
  reset(): Promise<void>;
  /** Whether it is not to be used again. */
  readonly isGivenUp: boolean;
  /** Closes it. Nothing of it is left behind. */
  close(): Promise<void>;
}

/** Everything that a run leaves: every table of ours but the clock and the record of migrations. */
export const TABLES_OF_RUNS = `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
  WHERE schemaname = 'turnlock' AND tablename NOT IN ('migrations', 'turnlock_clock') ORDER BY tablename`;

/** Tables that the user of the kit has made. */
export const TABLES_OF_USERS = `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
  WHERE schemaname <> 'turnlock' AND schemaname <> 'information_schema' AND schemaname NOT LIKE 'pg\\_%' ORDER BY schemaname, tablename`;

/** After so many runs tables are cut instead of emptied: rows that were deleted are gone through, too. */
const RUNS_PER_CUT = 40;

/** Statements that empty the tables after the run of that number: past the triggers that keep the audit, by who may turn them off. */
export function emptyingSql(tables: { ours: readonly string[]; users: readonly string[] }, run: number): string {
  const ours =
    run % RUNS_PER_CUT === 0
      ? `TRUNCATE ${tables.ours.join(', ')}`
      : tables.ours.map((name) => `DELETE FROM ${name}`).join('; ');
  return [
    'SET session_replication_role = replica',
    ours,
    ...(tables.users.length === 0 ? [] : [`TRUNCATE ${tables.users.join(', ')} RESTART IDENTITY`]),
    'SET session_replication_role = origin',
  ].join('; ');
}
