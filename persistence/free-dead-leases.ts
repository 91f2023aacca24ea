import type { Store } from './session-transaction.ts';

/**
 * Ends every lease at once. Only where the one process that can have held them is known to be dead: an embedded database whose lock file
 * a dead process left behind. Leases are no part of what a commit decides on, so no version is raised.
 */
export async function freeDeadLeases({ database }: Store): Promise<void> {
  await database.orm.em
    .fork()
    .execute(
      'update turnlock.agent_sessions set lease_expires_at = turnlock.turnlock_now() where lease_holder is not null',
    );
}
