import fc from 'fast-check';
import { allow, deny } from '../../../../index.ts';
import type { PolicyEntry } from '../gallery-entry.ts';

/** Cents that an order was worth. */
const ORDER_CENTS = 100;

interface Refund {
  orderId: string;
  cents: number;
}

/** Right, since it counts what the order has got and what it would get, and calls are judged and applied one after the other. */
export const sumOfTheOrder: PolicyEntry<Refund, Map<string, number>> = {
  name: 'sum-of-the-order',
  title: 'What an order has got and what a call would add to it may not be more than the order was worth.',
  kind: 'policy',
  check: {
    policy: ({ orderId, cents }, { world }) =>
      (world.get(orderId) ?? 0) + cents <= ORDER_CENTS ? allow() : deny('That is more than the order was worth.'),
    params: fc.record({ orderId: fc.constantFrom('1', '2'), cents: fc.constantFrom(60, 90, 150) }),
    world: () => new Map(),
    apply: (refunded, { orderId, cents }) => {
      refunded.set(orderId, (refunded.get(orderId) ?? 0) + cents);
    },
    invariants: {
      'no order gets more than it was worth': (refunded) => [...refunded.values()].every((sum) => sum <= ORDER_CENTS),
    },
  },
};
