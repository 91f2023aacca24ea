import type { HeldLease } from './extend-lease.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** Whether something came for session `s` that it must be awake for: the end of a child, or a message that no commit noted. */
const HAS_NEWS = `(exists (select from turnlock.agent_tool_executions x
    join turnlock.agent_tool_evidence v on v.session_id = x.session_id and v.execution_id = x.execution_id and v.attempt = x.attempt
   where x.session_id = s.session_id and x.status = 'RUNNING' and x.unknown_at is null)
  or exists (select from turnlock.agent_inbox i
   where i.session_id = s.session_id and i.rejected_at is null and i.noted_at is null))`;

/**
 * Lets a session that waits for its children alone sleep: nobody holds it, and it is looked at again in `limits.childLookMs`, or as soon as
 * evidence or a message wakes it. `lease`: that of whoever has it awake; absent where nobody has.
 *
 * `false`, and nothing changed, when something came meanwhile, or somebody else has it by now. The lock is taken so that what comes either
 * is seen here or wakes it after this.
 */
export async function letSleep(store: Store, key: SessionKey, lease?: HeldLease): Promise<boolean> {
  const { tenantId, sessionId } = key;
  const held = lease === undefined ? 's.lease_holder is null' : 's.lease_holder = ? and s.lease_token = ?';
  return inPatientTransaction(store, { tenantId, lockedSessionId: sessionId }, async (em) => {
    const rows = (await em.execute(
      `update turnlock.agent_sessions s set lease_holder = null, lease_expires_at = null,
           wake_at = turnlock.turnlock_now() + ? * interval '1 millisecond'
        where s.session_id = ? and s.tenant_id = ? and s.current_state = 'EXECUTING_TOOL' and ${held} and not ${HAS_NEWS}
        returning 1 as asleep`,
      [store.limits.childLookMs, sessionId, tenantId, ...(lease === undefined ? [] : [lease.holder, lease.token])],
    )) as unknown[];
    return rows.length > 0;
  });
}

/** Whether a session that sleeps must be woken: see {@link letSleep}. */
export async function hasNews(store: Store, { tenantId, sessionId }: SessionKey): Promise<boolean> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = await em.execute(
      `select 1 as awake from turnlock.agent_sessions s where s.session_id = ? and s.tenant_id = ? and ${HAS_NEWS}`,
      [sessionId, tenantId],
    );
    return (rows as unknown[]).length > 0;
  });
}
