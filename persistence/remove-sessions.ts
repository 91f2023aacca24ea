import type { SessionState } from '../machines/session-state.ts';
import { asOperator } from './operator-transaction.ts';
import type { Store } from './session-transaction.ts';

/** From when on sessions in one state may go. A rule that names the tenant counts before one that names none. */
export interface RetentionRule {
  state: SessionState;
  /** Milliseconds since the session's last transition, on the database's clock. */
  olderThanMs: number;
  tenantId?: string;
}

/** A session that was looked at. */
export interface ExaminedSession {
  tenantId: string;
  sessionId: string;
  state: SessionState;
  isRemovable: boolean;
}

/** One page of sessions after `after`, in the order of their ids, of one tenant or of all; empty after the last. @throws PRIVILEGE_MISSING. */
export async function listRemovable(
  store: Store,
  rules: readonly RetentionRule[],
  { tenantId, after, max }: { tenantId: string | null; after: string | null; max: number },
): Promise<ExaminedSession[]> {
  return asOperator(
    store,
    async (em) =>
      (await em.execute(
        `select tenant_id as "tenantId", session_id as "sessionId", current_state as state, is_removable as "isRemovable"
           from turnlock.list_removable(?::jsonb, ?, ?::uuid, ?)`,
        [JSON.stringify(rules), tenantId, after, max],
      )) as ExaminedSession[],
  );
}

/**
 * Removes those of the sessions, each whole or not at all, that may still go and that nobody holds; answers with their ids. One transaction,
 * which waits for no commit; a commit to one of them waits for its end and then finds no session. @throws PRIVILEGE_MISSING.
 */
export async function removeSessions(
  store: Store,
  rules: readonly RetentionRule[],
  sessionIds: readonly string[],
): Promise<string[]> {
  return asOperator(store, async (em) => {
    const rows = await em.execute('select session_id as id from turnlock.remove_sessions(?::uuid[], ?::jsonb)', [
      `{${sessionIds.join(',')}}`,
      JSON.stringify(rules),
    ]);
    return (rows as { id: string }[]).map(({ id }) => id);
  });
}
