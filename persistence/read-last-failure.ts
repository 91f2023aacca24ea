import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** What went wrong last in a run. */
export interface LastFailure {
  code: string | null;
  message: string | null;
}

/** How the last attempt of a model call of the run failed; `null` where none did. */
export async function readLastFailure(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  runId: string,
): Promise<LastFailure | null> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const [row] = (await em.execute(
      `select error_code as code, error_message as message from turnlock.agent_model_calls
        where session_id = ? and run_id = ?::uuid and (error_code is not null or error_message is not null)
        order by started_at desc limit 1`,
      [sessionId, runId],
    )) as [LastFailure | undefined];
    return row === undefined ? null : { code: row.code, message: row.message };
  });
}
