import { inPatientTransaction } from './patient-transaction.ts';
import type { Store } from './session-transaction.ts';

/** What of a session is worth a look in a list. */
export interface SessionSigns {
  /** Open rounds of asking a person. */
  asked: number;
  /** Since when work is owed with nobody at it, if that is longer than the bound; `null` where it is not. */
  stuckSince: Date | null;
  /** Whether it answers a call of another session. */
  isChild: boolean;
}

/** The signs of some sessions of a tenant, by their ids, and the database's time. */
export async function readSessionSigns(
  store: Store,
  { tenantId, sessionIds, stuckAfterMs }: { tenantId: string; sessionIds: readonly string[]; stuckAfterMs: number },
): Promise<ReadonlyMap<string, SessionSigns>> {
  if (sessionIds.length === 0) return new Map();
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      `select s.session_id, s.parent_session_id is not null as is_child,
              (select count(*)::int from turnlock.agent_approvals a where a.session_id = s.session_id and a.decision is null) as asked,
              case when s.current_state in ('PLANNING', 'EXECUTING_TOOL') and ${OWED} < n.now - ? * interval '1 millisecond'
                then (extract(epoch from ${OWED}) * 1000)::float8 end as stuck_ms
         from turnlock.agent_sessions s cross join (select turnlock.turnlock_now() as now) n
        where s.tenant_id = ? and s.session_id = any (?::uuid[])`,
      [stuckAfterMs, tenantId, `{${sessionIds.join(',')}}`],
    )) as { session_id: string; is_child: boolean; asked: number; stuck_ms: number | null }[];
    return new Map(
      rows.map(({ session_id, is_child, asked, stuck_ms }) => {
        const stuckSince = stuck_ms === null ? null : new Date(stuck_ms);
        return [session_id, { asked, stuckSince, isChild: is_child }];
      }),
    );
  });
}

/** Since when a session at work may be taken by anybody, as the index of owed sessions has it. */
const OWED = 'coalesce(s.lease_expires_at, s.wake_at, s.updated_at)';

/** How much of a tenant needs a look. Each count ends at its bound, so that none reads all sessions. */
export interface TenantOverview {
  /** Open rounds of asking people, and since when the oldest is open. */
  asked: number;
  askedSince: Date | null;
  /** Sessions at work. */
  atWork: number;
  /** Of those, sessions that owe work with nobody at it for longer than the bound. */
  stuck: number;
  /** Sessions that are FAILED and were changed within the last day. */
  failed: number;
}

/** Where counts end: a count of so many means that there may be more. */
export const MAX_COUNTED = 100;

/** The overview of a tenant, or of one of its users. */
export async function readTenantOverview(
  store: Store,
  { tenantId, userId, stuckAfterMs }: { tenantId: string; userId: string | null; stuckAfterMs: number },
): Promise<TenantOverview> {
  const own = `s.tenant_id = ?${userId === null ? '' : ' and s.user_id = ?'}`;
  const owner = userId === null ? [tenantId] : [tenantId, userId];
  const counted = (from: string) => `(select count(*)::int from (select 1 ${from} limit ${MAX_COUNTED}) c)`;
  const atWork = `from turnlock.agent_sessions s where ${own} and s.current_state in ('PLANNING', 'EXECUTING_TOOL')`;
  const asked = `from turnlock.agent_approvals a join turnlock.agent_sessions s on s.session_id = a.session_id
    where a.tenant_id = ? and ${own} and a.decision is null`;
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const [row] = (await em.execute(
      `select ${counted(asked)} as asked, (select (extract(epoch from a.requested_at) * 1000)::float8 ${asked} order by a.requested_at limit 1) as asked_ms,
              ${counted(atWork)} as at_work,
              ${counted(`${atWork} and ${OWED} < (select turnlock.turnlock_now()) - ? * interval '1 millisecond'`)} as stuck,
              ${counted(`from turnlock.agent_sessions s where ${own} and s.current_state = 'FAILED' and s.updated_at > (select turnlock.turnlock_now()) - interval '1 day'`)} as failed`,
      [...[tenantId, ...owner, tenantId, ...owner], ...[...owner, ...owner, stuckAfterMs, ...owner]],
    )) as [{ asked: number; asked_ms: number | null; at_work: number; stuck: number; failed: number }];
    const { asked: rounds, asked_ms, at_work, stuck, failed } = row;
    return { asked: rounds, askedSince: asked_ms === null ? null : new Date(asked_ms), atWork: at_work, stuck, failed };
  });
}
