import type { Seen } from '../../../../testing/index.ts';
import type { Bank } from './bank.ts';

/** No call has two bookings. Two calls for one order may have one each. */
export function eachCallIsBookedOnce({ world }: Seen<Bank>): boolean | string {
  const calls = world.bookings.map(({ executionId }) => executionId);
  const twice = calls.find((call, index) => calls.indexOf(call) !== index);
  return twice === undefined || `booked more than once: call ${twice}`;
}
