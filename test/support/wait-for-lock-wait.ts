import { type WaitOptions, waitFor } from './wait-for.ts';
import { withClient } from './with-client.ts';

/** Which waits count. */
export interface LockWaitOptions extends Partial<WaitOptions> {
  /** How many backends of the database must be waiting. Default 1. */
  readonly count?: number;
  /** `advisory`, `transactionid`, `tuple`, `relation`: the wait event of `pg_stat_activity`. Default: any lock. */
  readonly event?: string;
}

const WAITING = `
  SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND ($1::text IS NULL OR wait_event = $1)`;

/** Resolves with the backends' ids as soon as that many of them wait for a lock in the database of this URL. */
export async function waitForLockWait(url: string, options: LockWaitOptions = {}): Promise<number[]> {
  const count = options.count ?? 1;
  return await withClient(url, (client) =>
    waitFor(
      async () => {
        const { rows } = await client.query<{ pid: number }>(WAITING, [options.event ?? null]);
        return rows.length >= count && rows.map((row) => row.pid);
      },
      { for: `${count} lock wait(s)`, ...options },
    ),
  );
}
