import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';
import { VoucherDesk } from '../worlds/voucher-desk.ts';

const HOUR_MS = 3_600_000;

/**
 * Reached by a call, a crash, and a call in any session of that user; or by two sessions of one user in two processes. Within
 * one process it is right: it looks, asks and counts without a pause.
 */
export const limitInMemory: ToolsEntry<VoucherDesk> = {
  name: 'limit-in-memory',
  title: 'One voucher an hour for each user, counted in the memory of the process.',
  mistake: 'state in the memory of a process',
  kind: 'tools',
  check: {
    world: () => new VoucherDesk(),
    tools: (desk, worker) => {
      const lastAt = new Map<string, { key: string; at: number }>();
      return [
        defineTool({
          name: 'give_voucher',
          description: 'Gives a voucher to the user.',
          inputSchema: z.object({ cents: z.int().positive() }),
          effect: 'idempotent',
          execute: async ({ cents }, { tenantId, userId, executionId, idempotencyKey: key }) => {
            const owner = `${tenantId}/${userId}`;
            await worker.at('before the desk');
            const at = worker.now();
            const last = lastAt.get(owner);
            if (last !== undefined && last.key !== key && Math.abs(at - last.at) < HOUR_MS) {
              throw new Error('there was one within the hour');
            }
            const given = desk.give({ key, executionId, owner, cents, at });
            lastAt.set(owner, { key, at: given.at });
            await worker.at('after the desk');
            return { cents };
          },
        }),
      ];
    },
    calls: { give_voucher: fc.record({ cents: fc.constantFrom(5, 10) }) },
    invariants: { 'nobody gets two vouchers within an hour': ({ world }) => world.givesOneAnHour() },
    people: { settle: (desk, { idempotencyKey }) => desk.settle(idempotencyKey) },
  },
};
