import type { EntityManager } from '@mikro-orm/postgresql';
import type { Approvers } from '../machines/event-content.ts';
import type { EventOf } from '../machines/session-event.ts';
import { checkApprover } from './approver-rule.ts';
import type { Claiming } from './claims.ts';
import type { SettledAs } from './commit-request.ts';
import { alreadyDecided, anotherQuestion } from './decide-approval.ts';
import type { AgentApprovalRow } from './entities/agent-approval.entity.ts';
import { executionOf } from './execution-of.ts';
import { findRounds } from './write-rounds.ts';

/**
 * A settlement that names a question answers that one while it is open, and no other: under the lock, as what is asked may change meanwhile.
 * Who may not decide about a call may not say either that it was done, or not done, or shall run once more: the approvers of its last round
 * settle it, as long as the policy named some, whether that round is open or decided.
 *
 * @throws APPROVER_NOT_ALLOWED. APPROVAL_DECIDED, APPROVAL_STALE when the question of `answers` is not open any more, or none about the call.
 * @throws EXECUTION_NOT_FOUND when a question is named and the session has no such call.
 */
export async function checkSettler(
  em: EntityManager,
  key: Claiming,
  { executionId, by, roles = [] }: EventOf<'execution.settledByPerson'>,
  { answers, userId }: SettledAs,
): Promise<void> {
  const rounds = await findRounds(em, key, executionId);
  const round = rounds.at(-1) ?? null;
  if (answers !== null && round === null) await executionOf(em, key, executionId);
  if (answers !== null) checkOpen(rounds, { executionId, approvalId: answers });
  const approvers = (round?.approvers ?? null) as Approvers | null;
  checkApprover(approvers, { by, roles, userId }, { executionId, userId: key.userId });
}

function checkOpen(rounds: readonly AgentApprovalRow[], named: { executionId: string; approvalId: string }): void {
  const round = rounds.find(({ approvalId }) => approvalId === named.approvalId);
  if (round === undefined) throw anotherQuestion(named, rounds.at(-1)?.approvalId ?? null);
  if (round.decision != null) throw alreadyDecided(round);
}
