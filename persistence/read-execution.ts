import { AgentToolExecution } from './entities/agent-tool-execution.entity.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import { toExecutionRow } from './read-open-executions.ts';
import type { SessionKey } from './read-session.ts';
import type { ExecutionRow } from './row-changes.ts';
import type { Store } from './session-transaction.ts';

/** One execution of a session, or `null` when the session has none of that id. */
export async function readExecution(store: Store, key: SessionKey, executionId: string): Promise<ExecutionRow | null> {
  const { tenantId, sessionId } = key;
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const row = await em.findOne(AgentToolExecution, { executionId, tenantId, sessionId });
    return row === null ? null : toExecutionRow(row);
  });
}

/** Every execution of a session, in the order in which its calls were made. */
export async function readExecutions(store: Store, { tenantId, sessionId }: SessionKey): Promise<ExecutionRow[]> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = await em.execute(
      `select e.execution_id from turnlock.agent_tool_executions e
         join turnlock.agent_turns t on t.turn_id = e.turn_id
        where e.session_id = ? order by t.turn_index, e.ordinal`,
      [sessionId],
    );
    const ids = (rows as { execution_id: string }[]).map((row) => row.execution_id);
    const found = await em.find(AgentToolExecution, { tenantId, sessionId });
    const byId = new Map(found.map((row) => [row.executionId, toExecutionRow(row)]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  });
}
