import fc from 'fast-check';
import { allow, deny } from '../../../../index.ts';
import type { PolicyEntry } from '../gallery-entry.ts';

const DAY_MS = 86_400_000;
/** The office is in Auckland; the books are closed at midnight UTC. */
const OFFICE_OFFSET_MS = 12 * 3_600_000;
/** Cents that may be paid on one day of the books. */
const DAY_CENTS = 100;

interface Payment {
  cents: number;
  at: number;
}

/** Reached by two payments on one day of UTC, one before and one after noon, as 60 and 80: in Auckland that is midnight. */
export const dayOfTheOffice: PolicyEntry<{ cents: number }, Payment[]> = {
  name: 'day-of-the-office',
  title: 'A limit for each day of the books in UTC is held against the days of the office.',
  mistake: 'another time than the given one',
  kind: 'policy',
  check: {
    policy: ({ cents }, { world, now }) =>
      paidOnTheDayOf(world, now, OFFICE_OFFSET_MS) + cents <= DAY_CENTS ? allow() : deny('That is enough for today.'),
    params: fc.record({ cents: fc.constantFrom(60, 80) }),
    world: () => [],
    apply: (payments, { cents }, { now }) => {
      payments.push({ cents, at: now });
    },
    invariants: {
      'no more than 100 is paid on one day': (payments) =>
        payments.every(({ at }) => paidOnTheDayOf(payments, at, 0) <= DAY_CENTS),
    },
  },
};

function paidOnTheDayOf(payments: readonly Payment[], now: number, offsetMs: number): number {
  const day = (at: number) => Math.floor((at + offsetMs) / DAY_MS);
  return payments.filter(({ at }) => day(at) === day(now)).reduce((sum, { cents }) => sum + cents, 0);
}
