import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../index.ts';
import { checkToolPolicy } from '../../testing/check-tool-policy.ts';
import type { SeenExecution } from '../../testing/subject.ts';
import { ledgerInvariants } from '../../testing/world/ledger-invariants.ts';
import { WorldLedger } from '../../testing/world/world-ledger.ts';
import { params } from './scene.ts';

const ask =
  '{"type":"message","session":1,"process":1,"replies":[[{"tool":"refund","params":{"order":"1","cents":50}}]]}';

test('a call that is answered by the business key of another one says so, and owes the world no act', async () => {
  let seen: readonly SeenExecution[] = [];
  const { failure } = await checkToolPolicy({
    world: () => new WorldLedger(),
    tools: (bank) => [
      defineTool({
        name: 'refund',
        description: 'Pays an order back.',
        inputSchema: z.object({ order: z.string(), cents: z.int() }),
        once: { per: 'tenant', key: ({ order }) => order },
        execute: async ({ order }, { idempotencyKey: key }) => bank.act({ what: `paid ${order}`, key }),
      }),
    ],
    calls: { refund: params },
    invariants: {
      ...ledgerInvariants<WorldLedger>((bank) => bank),
      'it is seen': ({ executions }) => {
        seen = executions;
      },
    },
    replay: `{"form":1,"ids":7,"order":0,"commands":[${ask},${ask}]}`,
  });
  expect(failure?.text).toBeUndefined();
  const [first, second] = seen;
  expect([first, second].map((one) => one?.status)).toEqual(['SUCCESS', 'SUCCESS']);
  expect([first?.answeredBy, second?.answeredBy]).toEqual([null, first?.executionId]);
});
