import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** A round of asking, by its ids. */
export interface RoundKey extends SessionKey {
  approvalId: string;
}

/** Open rounds of any tenant that nobody was told of yet, those that were asked first first. */
export async function findUnannounced(
  store: Store,
  { max, excluding }: { max: number; excluding: readonly string[] },
): Promise<RoundKey[]> {
  return inPatientTransaction(store, { tenantId: '' }, async (em) => {
    const rows = await em.execute('select * from turnlock.unannounced_rounds(?, ?::uuid[])', [
      max,
      `{${excluding.join(',')}}`,
    ]);
    return (rows as { tenant_id: string; session_id: string; approval_id: string }[]).map((row) => ({
      tenantId: row.tenant_id,
      sessionId: row.session_id,
      approvalId: row.approval_id,
    }));
  });
}

/** Notes that people were told of a round; one that was decided meanwhile stays as it is. */
export async function markAnnounced(store: Store, { tenantId, approvalId }: RoundKey): Promise<void> {
  await inPatientTransaction(store, { tenantId }, (em) =>
    em.execute(
      `update turnlock.agent_approvals set announced_at = turnlock.turnlock_now()
        where approval_id = ? and tenant_id = ? and announced_at is null and decision is null`,
      [approvalId, tenantId],
    ),
  );
}
