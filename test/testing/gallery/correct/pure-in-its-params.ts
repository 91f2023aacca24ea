import fc from 'fast-check';
import { allow, deny } from '../../../../index.ts';
import type { PolicyEntry } from '../gallery-entry.ts';

/** Cents that one refund may have. */
const MAX_CENTS = 100;

interface Refund {
  orderId: string;
  cents: number;
}

/** Right, since what it promises is about each refund alone, so nothing that happened before can make it wrong. */
export const pureInItsParams: PolicyEntry<Refund, Refund[]> = {
  name: 'pure-in-its-params',
  title: 'No single refund may be more than 100, and nothing else is promised.',
  kind: 'policy',
  check: {
    policy: ({ cents }) => (cents <= MAX_CENTS ? allow() : deny('That is more than one refund may have.')),
    params: fc.record({ orderId: fc.constantFrom('1', '2'), cents: fc.constantFrom(60, 90, 150) }),
    world: () => [],
    apply: (refunds, refund) => {
      refunds.push(refund);
    },
    invariants: {
      'no refund is more than 100': (refunds) => refunds.every(({ cents }) => cents <= MAX_CENTS),
    },
  },
};
