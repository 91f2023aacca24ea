import { inPatientTransaction } from './patient-transaction.ts';
import type { Store } from './session-transaction.ts';

const DIGITS = 32;

/** Whether a text can be how a session's id begins: 4 hexadecimal digits or more, with hyphens where ids have them or without. */
export function isIdPrefix(text: string): boolean {
  const digits = text.replaceAll('-', '');
  return /^[0-9a-f-]+$/i.test(text) && digits.length >= 4 && digits.length < DIGITS;
}

/** Sessions of a tenant whose ids begin so, by the primary key; at most `limit`. */
export async function findByIdPrefix(
  store: Store,
  { tenantId, prefix, limit }: { tenantId: string; prefix: string; limit: number },
): Promise<string[]> {
  const digits = prefix.replaceAll('-', '').toLowerCase();
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      `select session_id from turnlock.agent_sessions
        where session_id between ?::uuid and ?::uuid and tenant_id = ? order by session_id limit ?`,
      [digits.padEnd(DIGITS, '0'), digits.padEnd(DIGITS, 'f'), tenantId, limit],
    )) as { session_id: string }[];
    return rows.map((row) => row.session_id);
  });
}
