import type { Seen } from '../../../../testing/index.ts';
import type { Bank } from './bank.ts';

/** No order of a tenant has two bookings. Orders of two tenants may have the same number. */
export function noOrderIsRefundedTwice({ world }: Seen<Bank>): boolean | string {
  const orders = world.bookings.map(({ tenantId, orderId }) => `${tenantId}/${orderId}`);
  const twice = orders.find((order, index) => orders.indexOf(order) !== index);
  return twice === undefined || `refunded more than once: order ${twice}`;
}
