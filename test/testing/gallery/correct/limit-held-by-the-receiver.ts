import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { VoucherDesk } from '../worlds/voucher-desk.ts';

/**
 * Right, since the desk looks and gives in one step, by the time that it notes down itself, and knows a repeat by its key. It is asked for
 * the time after the last place where a process may stand still.
 */
export const limitHeldByTheReceiver: ToolsEntry<VoucherDesk> = {
  name: 'limit-held-by-the-receiver',
  title: 'One voucher an hour for each user, counted by the desk that gives them out.',
  kind: 'tools',
  check: {
    world: () => new VoucherDesk(),
    tools: (desk, worker) => [
      defineTool({
        name: 'give_voucher',
        description: 'Gives a voucher to the user.',
        inputSchema: z.object({ cents: z.int().positive() }),
        effect: 'idempotent',
        execute: async ({ cents }, { tenantId, userId, executionId, idempotencyKey: key }) => {
          await worker.at('before the desk');
          desk.giveHourly({ key, executionId, owner: `${tenantId}/${userId}`, cents, at: worker.now() });
          await worker.at('after the desk');
          return { cents };
        },
      }),
    ],
    calls: { give_voucher: fc.record({ cents: fc.constantFrom(5, 10) }) },
    invariants: {
      'nobody gets two vouchers within an hour': ({ world }) => world.givesOneAnHour(),
      'what is recorded as failed was not given out': ({ world, executions }) =>
        executions
          .filter(({ status, isUnknown }) => status === 'FAILED' && !isUnknown)
          .every((call) => world.vouchers.every(({ executionId }) => executionId !== call.executionId)),
    },
    people: { settle: (desk, { idempotencyKey }) => desk.settle(idempotencyKey) },
  },
};
