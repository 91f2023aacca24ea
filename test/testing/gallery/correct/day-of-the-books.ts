import fc from 'fast-check';
import { allow, deny } from '../../../../index.ts';
import type { PolicyEntry } from '../gallery-entry.ts';

const DAY_MS = 86_400_000;
/** Cents that may be paid on one day of the books. */
const DAY_CENTS = 100;

interface Payment {
  cents: number;
  at: number;
}

/** Right, since it asks for the day of the time that it is given, as the books do, also where the clock jumps back. */
export const dayOfTheBooks: PolicyEntry<{ cents: number }, Payment[]> = {
  name: 'day-of-the-books',
  title: 'A limit for each day of the books is counted by the days of the books, in the time that the policy is given.',
  kind: 'policy',
  check: {
    policy: ({ cents }, { world, now }) =>
      paidOnTheDayOf(world, now) + cents <= DAY_CENTS ? allow() : deny('That is enough for today.'),
    params: fc.record({ cents: fc.constantFrom(60, 80) }),
    world: () => [],
    apply: (payments, { cents }, { now }) => {
      payments.push({ cents, at: now });
    },
    invariants: {
      'no more than 100 is paid on one day': (payments) =>
        payments.every(({ at }) => paidOnTheDayOf(payments, at) <= DAY_CENTS),
    },
  },
};

function paidOnTheDayOf(payments: readonly Payment[], now: number): number {
  const day = (at: number) => Math.floor(at / DAY_MS);
  return payments.filter(({ at }) => day(at) === day(now)).reduce((sum, { cents }) => sum + cents, 0);
}
