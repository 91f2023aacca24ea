import type { EntityManager } from '@mikro-orm/postgresql';
import { TurnlockError } from '../errors.ts';
import { AgentToolExecution, type AgentToolExecutionRow } from './entities/agent-tool-execution.entity.ts';
import type { SessionKey } from './read-session.ts';

/** A call of a session, in the transaction of `em`. @throws EXECUTION_NOT_FOUND. */
export async function executionOf(
  em: EntityManager,
  { sessionId, tenantId }: SessionKey,
  executionId: string,
): Promise<AgentToolExecutionRow> {
  const execution = await em.findOne(AgentToolExecution, { executionId, sessionId, tenantId });
  if (execution !== null) return execution;
  throw new TurnlockError('EXECUTION_NOT_FOUND', {
    message: `execution not found: ${executionId} (wanted one of session ${sessionId})`,
    details: { executionId, sessionId },
  });
}
