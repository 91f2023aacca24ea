import type { Seen } from '../../../../testing/index.ts';
import type { Bank } from './bank.ts';

/** The orders that each tenant has. */
const ORDERS = ['1', '2'];

/** The orders of a tenant that nothing was refunded for. */
export function openOrders(bank: Bank, tenantId: string): string[] {
  return ORDERS.filter((orderId) => !bank.bookings.some((one) => one.tenantId === tenantId && one.orderId === orderId));
}

/** Where a call is recorded as succeeded that refunds all orders, none of its tenant is open. */
export function allAreRefunded({ world, executions }: Seen<Bank>): boolean | string {
  const early = executions.find(
    ({ status, tenantId }) => status === 'SUCCESS' && openOrders(world, tenantId).length > 0,
  );
  return early === undefined || `recorded as succeeded, and open: ${openOrders(world, early.tenantId).join(', ')}`;
}
