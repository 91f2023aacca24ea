import type { TokenUsage } from '../machines/event-content.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { TurnRow } from './row-changes.ts';
import type { Store } from './session-transaction.ts';

/** What a model is told of a turn, and what counts for the limits of its run. */
export type HistoryTurn = Pick<TurnRow, 'turnIndex' | 'role' | 'content' | 'parts' | 'callOrdinal'> & {
  /** Which run it belongs to, and what it took: of the turns of the present run at least. */
  runId: string | null;
  tokenUsageJson: TokenUsage;
};

/** A turn as it is selected by {@link HISTORY_COLUMNS}. */
export interface HistoryRow {
  turn_index: number;
  role: HistoryTurn['role'];
  content: string | null;
  parts: HistoryTurn['parts'];
  call_ordinal: number | null;
  run_id: string | null;
  usage: TokenUsage | null;
}

/** What is selected of a turn. Its first two values are the present run, twice. */
export const HISTORY_COLUMNS = `turn_index, role, content, parts, call_ordinal, case when run_id = ? then run_id end as run_id,
                case when run_id = ? then token_usage_json end as usage`;

/**
 * The turns of a session as a model needs them, by index. A read that got no answer is tried again for `patienceMs`.
 *
 * Every run reads them, and they may be many: so only what is used, and no entities. At 1,000 turns all columns take twice as long, and
 * entities ten times.
 */
export async function readHistory(
  store: Store,
  { tenantId, sessionId, runId }: SessionKey & { runId: string },
  patienceMs: number,
): Promise<HistoryTurn[]> {
  return inPatientTransaction(
    store,
    { tenantId },
    async (em) => {
      const rows = (await em.execute(
        `select ${HISTORY_COLUMNS}
           from turnlock.agent_turns where tenant_id = ? and session_id = ? order by turn_index`,
        [runId, runId, tenantId, sessionId],
      )) as HistoryRow[];
      return rows.map(toHistoryTurn);
    },
    patienceMs,
  );
}

/** A turn as it was read. */
export function toHistoryTurn({
  turn_index,
  content,
  call_ordinal,
  run_id,
  usage,
  role,
  parts,
}: HistoryRow): HistoryTurn {
  return {
    turnIndex: turn_index,
    role,
    content: content ?? '',
    parts,
    callOrdinal: call_ordinal,
    runId: run_id,
    tokenUsageJson: usage ?? {},
  };
}
