import type { EntityManager } from '@mikro-orm/postgresql';
import { AgentToolExecution } from './entities/agent-tool-execution.entity.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import { toExecutionRow } from './read-open-executions.ts';
import type { ExecutionRow } from './row-changes.ts';
import type { SessionPage } from './session-pages.ts';
import type { Store } from './session-transaction.ts';

/** An open call, without what it was asked with. */
export interface ParkedCall {
  sessionId: string;
  executionId: string;
  toolName: string;
  /** The version whose params it would run with. */
  version: number;
  /** Digest of the params for which a person was asked and may decide, or has granted the call and it has not begun; `null`: nobody was. */
  approvedDigest: string | null;
}

/** The open calls of these sessions. In the caller's transaction. */
export async function readParkedCalls(em: EntityManager, { sessionIds }: SessionPage): Promise<ParkedCall[]> {
  const rows = (await em.execute(
    `select e.session_id, e.execution_id, e.tool_name, coalesce(e.upgraded_version, e.tool_version) as version, a.args_digest
       from turnlock.agent_tool_executions e
       left join lateral (select args_digest from turnlock.agent_approvals r
         where r.session_id = e.session_id and r.execution_id = e.execution_id and r.kind = 'approval' and e.attempt = 0
           and (r.decision is null or (r.decision = 'granted' and r.consumed_at is null))
         order by r.round desc limit 1) a on true
      where e.session_id = any (?::uuid[]) and e.status in ('PENDING', 'RUNNING') order by e.session_id, e.ordinal`,
    [`{${sessionIds.join(',')}}`],
  )) as { session_id: string; execution_id: string; tool_name: string; version: number; args_digest: string | null }[];
  return rows.map((row) => ({
    sessionId: row.session_id,
    executionId: row.execution_id,
    toolName: row.tool_name,
    version: row.version,
    approvedDigest: row.args_digest,
  }));
}

/** The whole row of a call; `null` where it is gone. */
export async function readParkedCall(
  store: Store,
  tenantId: string,
  { executionId }: Pick<ParkedCall, 'executionId'>,
): Promise<ExecutionRow | null> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const row = await em.findOne(AgentToolExecution, { executionId, tenantId });
    return row === null ? null : toExecutionRow(row);
  });
}
