import fc from 'fast-check';
import { allow, deny } from '../../../../index.ts';
import type { PolicyEntry } from '../gallery-entry.ts';

/** Cents that an order was worth. */
const ORDER_CENTS = 100;

interface Refund {
  orderId: string;
  cents: number;
}

/** Reached by two calls for one order, of 60 and 90 or of 60 twice. */
export const limitPerCall: PolicyEntry<Refund, Map<string, number>> = {
  name: 'limit-per-call',
  title: 'No single refund may be more than the order was worth, and nothing counts them together.',
  mistake: 'a limit that can be split',
  kind: 'policy',
  check: {
    policy: ({ cents }) => (cents <= ORDER_CENTS ? allow() : deny('That is more than the order was worth.')),
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
