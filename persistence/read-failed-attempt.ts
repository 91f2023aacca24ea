import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** Why an attempt of a model call failed. */
export interface FailedAttempt {
  code: string;
  message: string;
}

/** Why the attempt failed whose end is the transition `sequence` of the run; `null` where no row says so. */
export async function readFailedAttempt(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  { runId, sequence }: { runId: string; sequence: number },
): Promise<FailedAttempt | null> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    // A record of a call names no transition: both are counted within the run.
    const [row] = (await em.execute(
      `select m.error_code, m.error_message from turnlock.agent_model_calls m
        where m.session_id = ? and m.run_id = ? and m.error_code is not null
        order by m.started_at
       offset (select greatest(count(*) - 1, 0) from turnlock.agent_transitions t
                where t.session_id = ? and t.run_id = ? and t.sequence <= ?
                  and t.event in ('model.attemptFailed', 'model.failed'))
        limit 1`,
      [sessionId, runId, sessionId, runId, sequence],
    )) as { error_code: string; error_message: string | null }[];
    return row === undefined ? null : { code: row.error_code, message: row.error_message ?? '' };
  });
}
