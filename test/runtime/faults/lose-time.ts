import type { RuntimeDatabase } from '../../support/runtime-database.ts';

/** So much time passes for one session that its lease and the deadlines of its calls are over. It waits for whoever has its rows. */
export async function loseTime({ query }: Pick<RuntimeDatabase, 'query'>, sessionId: string): Promise<void> {
  await query(
    `WITH overdue AS (UPDATE turnlock.agent_tool_executions SET deadline_at = deadline_at - interval '1 day'
       WHERE session_id = $1 AND status = 'RUNNING')
     UPDATE turnlock.agent_sessions SET lease_expires_at = turnlock.turnlock_now() - interval '1 second'
      WHERE session_id = $1 AND lease_holder IS NOT NULL`,
    [sessionId],
  );
}
