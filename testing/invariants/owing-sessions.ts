import { UNTAKEN_EVIDENCE } from '../../persistence/evidence.ts';
import type { KitDatabase } from '../database/kit-database.contract.ts';

const OWING = `SELECT COALESCE(s.external_id, s.session_id::text) AS session, s.current_state AS state FROM turnlock.agent_sessions s
  WHERE s.current_state IN ('PLANNING', 'EXECUTING_TOOL')
    OR (s.current_state = 'IDLE' AND EXISTS (
      SELECT FROM turnlock.agent_inbox i WHERE i.session_id = s.session_id AND i.rejected_at IS NULL))
    OR (s.current_state IN ('IDLE', 'AWAITING_INPUT', 'FAILED') AND s.wake_at <= turnlock.turnlock_now()
      AND EXISTS (SELECT FROM ${UNTAKEN_EVIDENCE}))
  ORDER BY 1`;

/** The sessions that owe work, by external id where they have one. */
export async function owingSessions(
  database: Pick<KitDatabase, 'query'>,
): Promise<{ session: string; state: string }[]> {
  return database.query(OWING);
}
