import fc from 'fast-check';
import { allow, deny } from '../../../../index.ts';
import type { PolicyEntry } from '../gallery-entry.ts';

interface Refund {
  orderId: string;
  cents: number;
  /** What the model says about its user. */
  isManager: boolean;
}

/** Reached by one call. Nobody is a manager here: what a policy may believe is who the session belongs to. */
export const believesTheModel: PolicyEntry<Refund, Refund[]> = {
  name: 'believes-the-model',
  title: 'Refunds above 100 are for managers, and it is the model that says who is one.',
  mistake: 'a policy that trusts the params',
  kind: 'policy',
  check: {
    policy: ({ cents, isManager }) =>
      cents <= 100 || isManager ? allow() : deny('Only a manager refunds more than 100.'),
    params: fc.record({
      orderId: fc.constantFrom('1', '2'),
      cents: fc.constantFrom(60, 150),
      isManager: fc.boolean(),
    }),
    world: () => [],
    apply: (refunds, refund) => {
      refunds.push(refund);
    },
    invariants: {
      'no refund is above 100, since nobody is a manager': (refunds) => refunds.every(({ cents }) => cents <= 100),
    },
  },
};
