import fc from 'fast-check';
import { allow, deny } from '../../../../index.ts';
import type { PolicyEntry } from '../gallery-entry.ts';

const HOUR_MS = 3_600_000;

/** An account, and its balance as it was last looked at. */
interface Account {
  balance: number;
  seen: { balance: number; at: number };
}

/** Reached by two payments within an hour, of 60 and 80. */
export const balanceOfAnHourAgo: PolicyEntry<{ cents: number }, Account> = {
  name: 'balance-of-an-hour-ago',
  title: 'A payment is compared with a balance that is looked at once an hour.',
  mistake: 'a policy that reads stale state',
  kind: 'policy',
  check: {
    policy: ({ cents }, { world, now }) => {
      if (now - world.seen.at > HOUR_MS) world.seen = { balance: world.balance, at: now };
      return cents <= world.seen.balance ? allow() : deny('There is not enough in the account.');
    },
    params: fc.record({ cents: fc.constantFrom(60, 80) }),
    world: () => ({ balance: 100, seen: { balance: 100, at: 0 } }),
    apply: (account, { cents }) => {
      account.balance -= cents;
    },
    invariants: { 'the account is not overdrawn': ({ balance }) => balance >= 0 || `its balance is ${balance}` },
  },
};
