import fc from 'fast-check';
import { allow, deny } from '../../../../index.ts';
import type { PolicyEntry } from '../gallery-entry.ts';

interface Withdrawal {
  account: string;
  pin: number;
}

const PINS: Readonly<Record<string, number>> = { a: 1, b: 2 };

/** The accounts that somebody has verified, and who withdrew from which with which number. */
interface Counter {
  verified: Set<string>;
  withdrawals: { who: string; withdrawal: Withdrawal }[];
}

/** Reached by a call of one user with the right number and one of another user, for the same account, with the wrong one. */
export const verifiedForEverybody: PolicyEntry<Withdrawal, Counter> = {
  name: 'verified-for-everybody',
  title: 'Who has given the number of an account need not give it again, and the policy forgets who that was.',
  mistake: 'a policy whose state is shared by all users',
  kind: 'policy',
  check: {
    policy: ({ account, pin }, { world }) => {
      if (PINS[account] === pin) world.verified.add(account);
      return world.verified.has(account) ? allow() : deny('That is not the number of the account.');
    },
    params: fc.record({ account: fc.constantFrom('a', 'b'), pin: fc.constantFrom(1, 2) }),
    world: () => ({ verified: new Set(), withdrawals: [] }),
    apply: ({ withdrawals }, withdrawal, { tenantId, userId }) => {
      withdrawals.push({ who: `${tenantId}/${userId}`, withdrawal });
    },
    invariants: {
      'whoever withdraws has given the number of the account': ({ withdrawals }) =>
        withdrawals.every(({ who, withdrawal: { account } }) =>
          withdrawals.some(
            (other) =>
              other.who === who && other.withdrawal.account === account && other.withdrawal.pin === PINS[account],
          ),
        ),
    },
  },
};
