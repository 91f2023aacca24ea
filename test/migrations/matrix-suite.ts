import { expect, test } from 'vitest';
import { EXECUTION_MATRIX, everyPair, SESSION_MATRIX, WAYS_TO_STATE, WAYS_TO_STATUS } from './legal-matrices.ts';
import { insertCall, insertSession, move, type Sql, TENANT } from './scene.ts';

/** Every pair of states and of statuses, legal and illegal, driven against a live database as the runtime's role. */
export function describeMatrices(open: () => Sql): void {
  test.each(everyPair(SESSION_MATRIX))('a session from $from to $to: $legal', async ({ from, to, legal }) => {
    const error = await asRuntime(open(), async (sql) => {
      const id = await insertSession(sql);
      for (const state of WAYS_TO_STATE[from] ?? []) await move(sql, id, state);
      await move(sql, id, to);
    });
    expect(error).toEqual(legal ? undefined : expect.objectContaining({ code: 'TL002' }));
  });

  test.each(everyPair(EXECUTION_MATRIX))('an execution from $from to $to: $legal', async ({ from, to, legal }) => {
    const error = await asRuntime(open(), async (sql) => {
      const { sessionId, executionId } = await insertCall(sql);
      await move(sql, sessionId, 'EXECUTING_TOOL');
      for (const status of WAYS_TO_STATUS[from] ?? []) await change(sql, executionId, status);
      await change(sql, executionId, to);
    });
    expect(error).toEqual(legal ? undefined : expect.objectContaining({ code: 'TL031' }));
  });
}

async function change(sql: Sql, executionId: string, status: string): Promise<void> {
  const start = status === 'RUNNING' ? ', attempt = attempt + 1, fencing_token = 1' : '';
  await sql.query(`UPDATE turnlock.agent_tool_executions SET status = $2${start} WHERE execution_id = $1`, [
    executionId,
    status,
  ]);
}

/** Runs `work` and the checks of COMMIT in a transaction of the runtime's role, rolls back, and returns the error. */
async function asRuntime(sql: Sql, work: (sql: Sql) => Promise<void>): Promise<unknown> {
  await sql.query('BEGIN');
  try {
    await sql.query(`SELECT set_config('role', 'turnlock_runtime', true), set_config('turnlock.tenant', $1, true)`, [
      TENANT,
    ]);
    await work(sql);
    await sql.query('SET CONSTRAINTS ALL IMMEDIATE');
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await sql.query('ROLLBACK');
  }
}
