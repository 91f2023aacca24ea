import { z } from 'zod';
import { defineTool, requireApproval, versioned } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Till } from '../worlds/till.ts';
import { tillCalls } from '../worlds/till-calls.ts';

const currency = z.enum(['EUR', 'JPY']);
const before = z.object({ orderId: z.string(), cents: z.int().positive(), currency });
const now = z.object({ ...before.shape, currency: currency.default('EUR'), note: z.string().nullable() });

/**
 * Reached by a call for order 2 in the first process, a crash while a person is asked, and an approval: it runs with the new build. The contract
 * knows no deploys, so the first process stands for the old build and all later ones for the new one: a rolling deploy.
 */
export const upgradeLosesAField: ToolsEntry<Till> = {
  name: 'upgrade-loses-a-field',
  title:
    'The upgrade of the params writes down the fields one by one and forgets the currency, which has a default by now.',
  mistake: 'an upgrade that loses a field',
  kind: 'tools',
  check: {
    world: () => new Till(),
    tools: (till, worker) => [
      defineTool({
        name: 'pay_back',
        description: 'Pays an order back in cash.',
        inputSchema:
          worker.number === 1
            ? before
            : versioned(before).to(now, ({ orderId, cents }) => ({ orderId, cents, note: null })),
        keepsApproval: true,
        effect: 'idempotent',
        policy: () => requireApproval(),
        execute: async ({ orderId, currency }, { idempotencyKey: key }) => {
          await worker.at('before the till');
          till.pay({ key, orderId, currency });
          await worker.at('after the till');
          return { paidIn: currency };
        },
      }),
    ],
    calls: { pay_back: tillCalls },
    invariants: {
      'an order is paid back in the currency in which it was paid': ({ world }) => world.paysInTheCurrencyOfTheOrder(),
    },
  },
};
