import { inPatientTransaction } from '../patient-transaction.ts';
import type { SessionKey } from '../read-session.ts';
import type { Store } from '../session-transaction.ts';

/** The summary of a session that counts. */
export interface SessionSummaryText {
  memoryId: string;
  content: string;
  /** Index of the last turn that it tells of. */
  coversToTurn: number;
}

/** The latest summary of a session that was neither superseded nor has expired; `null` where there is none. */
export async function readSummary(
  store: Store,
  { tenantId, sessionId }: SessionKey,
): Promise<SessionSummaryText | null> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const [row] = (await em.execute(
      `select memory_id, content, covers_to_turn from turnlock.agent_memories
         where tenant_id = ? and session_id = ? and covers_to_turn is not null and superseded_at is null
           and (expires_at is null or expires_at > turnlock.turnlock_now())
         order by covers_to_turn desc, created_at desc, memory_id limit 1`,
      [tenantId, sessionId],
    )) as { memory_id: string; content: string; covers_to_turn: number }[];
    if (row === undefined) return null;
    return { memoryId: row.memory_id, content: row.content, coversToTurn: row.covers_to_turn };
  });
}
