import type { Seen } from '../../../../testing/index.ts';
import type { Bank, Refund } from './bank.ts';

/**
 * Each call that is recorded as succeeded has a booking of its tenant for its order and amount. By what it asks, not by its id: one call may be
 * answered with the result of an equal one.
 */
export function whatSucceededWasBooked({ world, executions }: Seen<Bank>): boolean | string {
  const missing = executions.find(({ status, tenantId, params }) => {
    if (status !== 'SUCCESS') return false;
    const { orderId, cents } = params as Refund;
    return !world.bookings.some(
      (booking) => booking.tenantId === tenantId && booking.orderId === orderId && booking.cents === cents,
    );
  });
  return missing === undefined || `recorded as succeeded and never booked: call ${missing.executionId}`;
}
