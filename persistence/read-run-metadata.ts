import type { Json } from '../machines/event-content.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** The metadata of the message that began a run; `null` where none did. A read that got no answer is tried again for `patienceMs`. */
export async function readRunMetadata(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  runId: string,
  patienceMs: number,
): Promise<{ [name: string]: Json } | null> {
  return inPatientTransaction(
    store,
    { tenantId },
    async (em) => {
      const [row] = (await em.execute(
        `select metadata from turnlock.agent_turns
          where tenant_id = ? and session_id = ? and run_id = ? and role = 'user' order by turn_index limit 1`,
        [tenantId, sessionId, runId],
      )) as [{ metadata: { [name: string]: Json } }?];
      return row?.metadata ?? null;
    },
    patienceMs,
  );
}
