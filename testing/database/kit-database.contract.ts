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

/** Where the kit plays: a database of its own, used by one run after the other. */
export interface KitDatabase {
  readonly kind: 'pglite' | 'postgres';
  /** What a process is given that may die: `destroy` is what then becomes of its connections. */
  mortalAdapter(life: Life): { adapter: DatabaseAdapter; destroy(): Promise<void> };
  /** Rows of a statement, past every runtime, as the owner of the tables. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  query(text: string, values?: unknown[]): Promise<any[]>;
  /** Sets the clock that leases and deadlines go by, in milliseconds since 1970. */
  setNow(ms: number): Promise<void>;
  /** Whether somebody has its one connection at this moment; on a server never. */
  readonly isHeld: boolean;
  /**
   * Copies what a run left into a new folder within `parent`, where the inspector can show it. Resolves to that folder; to `null` where somebody
   * holds the connection for ever.
   */
  keepIn(parent: string): Promise<string | null>;
  /** Removes everything that a run left. Where somebody holds the connection for ever it is given up, and not to be used again. */
  reset(): Promise<void>;
}

/** Everything that a run leaves: every table of ours but the clock and the record of migrations. */
export const TABLES_OF_RUNS = `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
  WHERE schemaname = 'turnlock' AND tablename NOT IN ('migrations', 'turnlock_clock') ORDER BY tablename`;
