import type { Seen } from '../../../../testing/index.ts';
import type { Bank } from './bank.ts';

/** Cents of one order that may be refunded without anybody's approval. */
export const LIMIT_CENTS = 100;

/** No order of a tenant gets more than {@link LIMIT_CENTS} by calls that nobody approved. */
export function littleIsRefundedUnapproved({ world, executions }: Seen<Bank>): boolean | string {
  const approved = new Set(executions.filter((call) => call.approvedBy !== null).map((call) => call.executionId));
  const totals = new Map<string, number>();
  for (const { tenantId, orderId, cents, executionId } of world.bookings) {
    if (approved.has(executionId)) continue;
    const order = `${tenantId}/${orderId}`;
    totals.set(order, (totals.get(order) ?? 0) + cents);
  }
  const over = [...totals].find(([, total]) => total > LIMIT_CENTS);
  return over === undefined || `refunded without approval: ${over[1]} cents of order ${over[0]}`;
}
