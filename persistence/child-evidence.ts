import { isSettled } from '../machines/execution-status.ts';
import type { EvidencedResult } from '../machines/session-event.ts';
import type { ParentCall } from './committed-session.ts';
import { AgentToolExecution } from './entities/agent-tool-execution.entity.ts';
import { insertEvidenceRow } from './evidence.ts';
import { childEvidenceId } from './keys/child-ids.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { Store } from './session-transaction.ts';

/**
 * Tells a parent how the child of one of its calls ended: evidence of the latest attempt, inserted once however often it is told. Takes the
 * parent's lock, never the child's. `false` where there is nobody to tell: the parent is gone, or knows already.
 */
export async function tellParent(
  store: Store,
  tenantId: string,
  { sessionId, executionId }: ParentCall,
  { outcome, content }: Pick<EvidencedResult, 'outcome' | 'content'>,
): Promise<boolean> {
  await store.environment.faultPoint('beforeEvidence', { sessionId, executionId });
  return inPatientTransaction(store, { tenantId, lockedSessionId: sessionId }, async (em) => {
    const execution = await em.findOne(AgentToolExecution, { executionId, sessionId, tenantId });
    if (execution === null || execution.status === 'PENDING') return false;
    if (isSettled(execution.status) && execution.status !== 'TIMED_OUT') return false;
    const { attempt, fencingToken } = execution;
    const evidenceId = childEvidenceId(executionId, attempt);
    const late = { evidenceId, executionId, attempt, token: fencingToken ?? 0, outcome, content };
    return insertEvidenceRow(em, { tenantId, sessionId }, late);
  });
}
