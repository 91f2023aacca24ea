import type { Approvers } from '../../machines/event-content.ts';
import { checkApprover, mayDecide } from '../../persistence/approver-rule.ts';
import { readRounds } from '../../persistence/read-rounds.ts';
import { checkUuid } from '../../persistence/values/check-uuid.ts';
import { servicesOf } from '../../runtime/services-of.ts';
import type { Asked, Opened } from './asked.ts';
import { HttpProblem } from './http-problem.ts';

/** Whose decision it is, and about which question. */
export interface Decider {
  by: string;
  roles: readonly string[];
  approvalId?: string;
}

/**
 * Whoever asked, as he decides about a call: bound to the very question whose approvers were looked at, so that what is asked next about the
 * call is not answered. Whether it is open still is the runtime's to say.
 *
 * @throws HttpProblem 403, APPROVER_NOT_ALLOWED. VALUE_INVALID for what is no id.
 */
export async function deciderOf(
  asked: Asked,
  { session, status }: Opened,
  named: { executionId: string; approvalId?: string },
): Promise<Decider> {
  const { by, roles, userId } = asked.identity;
  const { approvalId } = named;
  if (userId === null) return { by, roles, ...(approvalId === undefined ? {} : { approvalId }) };
  const executionId = checkUuid(named.executionId, 'executionId');
  const last = (await readRounds(servicesOf(asked.runtime).store, session, executionId)).at(-1);
  if (last?.decision === null) checkDecides(asked, last.approvers, { executionId, userId: status.userId });
  // Where nothing was asked yet no approval has the execution's id: what is asked meanwhile is not answered either.
  return { by, roles, approvalId: approvalId ?? last?.approvalId ?? executionId };
}

/** Whether whoever asked may decide about a call, for whom nothing was refused by `authorize`. */
export function decides({ identity, settings }: Asked, approvers: Approvers | null, userId: string): boolean {
  if (!mayDecide(approvers, identity, userId)) return false;
  return identity.userId === null || settings.letsOwnersDecide || namesSomebody(approvers);
}

/** @throws HttpProblem 403, APPROVER_NOT_ALLOWED. */
function checkDecides(
  asked: Asked,
  approvers: Approvers | null,
  { executionId, userId }: { executionId: string; userId: string },
): void {
  if (decides(asked, approvers, userId)) return;
  checkApprover(approvers, asked.identity, { executionId, userId });
  throw new HttpProblem(
    403,
    'FORBIDDEN',
    'The policy names nobody who may decide about this call, and its user is not asked.',
    'Name who decides in `approvers` of the policy, or let `authorize` of the handler say that users do.',
  );
}

function namesSomebody(approvers: Approvers | null): boolean {
  return approvers?.users !== undefined || approvers?.roles !== undefined;
}
