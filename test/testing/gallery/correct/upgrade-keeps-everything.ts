import { z } from 'zod';
import { defineTool, requireApproval, versioned } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { Till } from '../worlds/till.ts';
import { tillCalls } from '../worlds/till-calls.ts';

const currency = z.enum(['EUR', 'JPY']);
const before = z.object({ orderId: z.string(), cents: z.int().positive(), currency });
const now = z.object({ ...before.shape, note: z.string().nullable() });

/**
 * Right, since the upgrade keeps what was asked and adds what it could not say, and the new version has no default for what was always
 * there. The first process stands for the old build and all later ones for the new one: a rolling deploy.
 * The tool has not the name of the faulty one, since one version of a tool has one schema in a database.
 */
export const upgradeKeepsEverything: ToolsEntry<Till> = {
  name: 'upgrade-keeps-everything',
  title: 'The upgrade of the params keeps all that there was and adds a note that nobody wrote.',
  kind: 'tools',
  check: {
    world: () => new Till(),
    tools: (till, worker) => [
      defineTool({
        name: 'pay_in_cash',
        description: 'Pays an order back in cash.',
        inputSchema: worker.number === 1 ? before : versioned(before).to(now, (old) => ({ ...old, note: null })),
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
    calls: { pay_in_cash: tillCalls },
    invariants: {
      'an order is paid back in the currency in which it was paid': ({ world }) => world.paysInTheCurrencyOfTheOrder(),
    },
  },
};
