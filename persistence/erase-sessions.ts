import type { SessionState } from '../machines/session-state.ts';
import { asOperator } from './operator-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** Whose contents are erased. */
export interface ErasedUser {
  tenantId: string;
  userId: string;
}

/** A session that is not erased yet. */
export interface ErasableSession extends SessionKey {
  state: SessionState;
}

/**
 * The sessions of a user that are not erased yet, and those that came of them as children and forks, whoever's they are; the ones
 * furthest from the user first. @throws PRIVILEGE_MISSING.
 */
export async function listErasable(store: Store, { tenantId, userId }: ErasedUser): Promise<ErasableSession[]> {
  return asOperator(
    store,
    async (em) =>
      (await em.execute(
        `select tenant_id as "tenantId", session_id as "sessionId", current_state as state from turnlock.list_erasable(?, ?)`,
        [tenantId, userId],
      )) as ErasableSession[],
  );
}

/**
 * Erases the contents of those of the sessions, each whole or not at all, that are COMPLETED and that nobody holds; answers with how many
 * they were, and how many memories went with them. One transaction. @throws PRIVILEGE_MISSING.
 */
export async function eraseSessions(
  store: Store,
  { tenantId, sessionIds, by }: { tenantId: string; sessionIds: readonly string[]; by: string },
): Promise<{ sessions: number; memories: number }> {
  const [row] = await asOperator(
    store,
    async (em) =>
      (await em.execute(
        `select count(*)::int as sessions, coalesce(sum(memories), 0)::int as memories from turnlock.erase_sessions(?, ?::uuid[], ?)`,
        [tenantId, `{${sessionIds.join(',')}}`, by],
      )) as [{ sessions: number; memories: number }],
  );
  return row;
}

/** Erases what is the user's and in no session: at most `max` memories, and as many keys. @throws PRIVILEGE_MISSING. */
export async function eraseLeft(
  store: Store,
  { tenantId, userId }: ErasedUser,
  max: number,
): Promise<{ memories: number; claims: number }> {
  const [row] = await asOperator(
    store,
    async (em) =>
      (await em.execute('select memories, claims from turnlock.erase_left(?, ?, ?)', [tenantId, userId, max])) as [
        { memories: number; claims: number },
      ],
  );
  return row;
}
