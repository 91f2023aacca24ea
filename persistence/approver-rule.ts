import { TurnlockError } from '../errors.ts';
import type { Approvers } from '../machines/event-content.ts';

/** Whoever decides about a call, as the host vouches for it. */
export interface Approver {
  by: string;
  roles: readonly string[];
  /** The user that this is, where the host says so: `by` may be another name of his. */
  userId?: string | null;
}

/** Whether `approver` is among those who may decide. A list of users and a list of roles: either will do. `owner` is whose session it is. */
export function mayDecide(approvers: Approvers | null, { by, roles, userId }: Approver, owner: string): boolean {
  if (approvers === null) return true;
  const { users, roles: wanted, notUser = false } = approvers;
  if (notUser && (by === owner || userId === owner)) return false;
  if (users === undefined && wanted === undefined) return true;
  return (users?.includes(by) ?? false) || roles.some((role) => wanted?.includes(role));
}

/** The rule in words: what the policy names. */
export function approversText({ users, roles, notUser = false }: Approvers): string {
  const named = [
    ...(roles === undefined ? [] : [`role ${roles.map((role) => JSON.stringify(role)).join(' or ') || 'none'}`]),
    ...(users === undefined ? [] : [`user ${users.map((user) => JSON.stringify(user)).join(' or ') || 'none'}`]),
  ];
  const anyOf = named.length === 0 ? 'anybody' : named.join(', or ');
  return notUser ? `${anyOf}, but not the user whose session it is` : anyOf;
}

/** @throws APPROVER_NOT_ALLOWED unless `approver` is among those who may decide about `executionId`; `what` says what was decided about. */
export function checkApprover(
  approvers: Approvers | null,
  approver: Approver,
  { executionId, userId, what }: { executionId: string; userId: string; what?: string },
): void {
  if (approvers === null || mayDecide(approvers, approver, userId)) return;
  const { by, roles } = approver;
  const found = roles.length === 0 ? 'no roles' : `roles ${roles.map((role) => JSON.stringify(role)).join(', ')}`;
  const about = what === undefined ? '' : ` ${what}`;
  throw new TurnlockError('APPROVER_NOT_ALLOWED', {
    message: `approver not allowed: ${JSON.stringify(by)} for execution ${executionId}${about} (found ${found}, wanted ${approversText(approvers)})`,
    details: { executionId, by, roles: [...roles], approvers },
  });
}
