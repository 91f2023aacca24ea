import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { TurnRow } from './row-changes.ts';
import type { Store } from './session-transaction.ts';

/** What a model is told of a turn. */
export type HistoryTurn = Pick<TurnRow, 'turnIndex' | 'role' | 'content' | 'parts' | 'callOrdinal'>;

interface Row {
  turn_index: number;
  role: HistoryTurn['role'];
  content: string | null;
  parts: HistoryTurn['parts'];
  call_ordinal: number | null;
}

/**
 * The turns of a session as a model needs them, by index. A read that got no answer is tried again for `patienceMs`.
 *
 * Every run reads them, and they may be many: so only what is used, and no entities. At 1,000 turns all columns take twice as long, and
 * entities ten times.
 */
export async function readHistory(store: Store, key: SessionKey, patienceMs: number): Promise<HistoryTurn[]> {
  const { tenantId, sessionId } = key;
  return inPatientTransaction(
    store,
    { tenantId },
    async (em) => {
      const rows = (await em.execute(
        `select turn_index, role, content, parts, call_ordinal from turnlock.agent_turns
          where tenant_id = ? and session_id = ? order by turn_index`,
        [tenantId, sessionId],
      )) as Row[];
      return rows.map(({ turn_index: turnIndex, role, content, parts, call_ordinal: callOrdinal }) => ({
        turnIndex,
        role,
        content: content ?? '',
        parts,
        callOrdinal,
      }));
    },
    patienceMs,
  );
}
