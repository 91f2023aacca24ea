import type { Seen } from '../../../../testing/index.ts';
import type { Bank } from './bank.ts';

/** No call that is recorded as failed has a booking. Of one whose outcome is unknown nothing is said. */
export function whatFailedWasNotBooked({ world, executions }: Seen<Bank>): boolean | string {
  const paid = executions.find(
    ({ status, isUnknown, executionId }) =>
      status === 'FAILED' && !isUnknown && world.bookings.some((booking) => booking.executionId === executionId),
  );
  return paid === undefined || `recorded as failed and booked all the same: call ${paid.executionId}`;
}
