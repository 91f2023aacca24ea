import type { EntityManager } from '@mikro-orm/postgresql';
import type { Approvers } from '../machines/event-content.ts';
import type { EventOf } from '../machines/session-event.ts';
import { checkApprover } from './approver-rule.ts';
import type { Claiming } from './claims.ts';
import { findRound } from './write-rounds.ts';

/**
 * Who may not decide about a call may not say either that it was done, or not done, or shall run once more: the approvers of its last round
 * settle it, as long as the policy named some.
 *
 * @throws APPROVER_NOT_ALLOWED.
 */
export async function checkSettler(
  em: EntityManager,
  key: Claiming,
  { executionId, by, roles = [] }: EventOf<'execution.settledByPerson'>,
): Promise<void> {
  const round = await findRound(em, key, executionId);
  const approvers = (round?.approvers ?? null) as Approvers | null;
  checkApprover(approvers, { by, roles }, { executionId, userId: key.userId });
}
