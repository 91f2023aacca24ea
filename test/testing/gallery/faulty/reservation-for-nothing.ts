import fc from 'fast-check';
import { z } from 'zod';
import { defineTool, deny, requireApproval } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';

/** A budget of 100 of each tenant. What is reserved for a call is used by it, or given free. */
class Budgets {
  readonly reserved = new Map<string, { tenantId: string; cents: number }>();
  readonly used = new Map<string, { tenantId: string; cents: number }>();

  /** Whether there is enough for the call, for which it is kept from then on. */
  reserves(cents: number, { tenantId, executionId }: { tenantId: string; executionId: string }): boolean {
    if (this.reserved.has(executionId)) return true;
    const all = [...this.reserved.values(), ...this.used.values()].filter((one) => one.tenantId === tenantId);
    if (all.reduce((sum, one) => sum + one.cents, cents) > 100) return false;
    this.reserved.set(executionId, { tenantId, cents });
    return true;
  }

  /** Uses what is reserved for the call, once. */
  use(executionId: string): void {
    const reservation = this.reserved.get(executionId);
    if (reservation !== undefined) this.used.set(executionId, reservation);
    this.reserved.delete(executionId);
  }
}

/**
 * Reached by a call that waits for a person, and a denial or a cancel: nothing that runs then knows of the reservation.
 */
export const reservationForNothing: ToolsEntry<Budgets> = {
  name: 'reservation-for-nothing',
  title:
    'The policy reserves the amount of a call, and only the tool, which a denied call never reaches, gives it free.',
  mistake: 'a reservation that nobody gives free',
  kind: 'tools',
  check: {
    world: () => new Budgets(),
    tools: (budgets, worker) => [
      defineTool({
        name: 'book_trip',
        description: 'Books a trip.',
        inputSchema: z.object({ cents: z.int().positive() }),
        effect: 'idempotent',
        policy: ({ cents }, context) =>
          budgets.reserves(cents, context) ? requireApproval() : deny('The budget is used up.'),
        execute: async ({ cents }, { executionId }) => {
          await worker.at('before the booking');
          budgets.use(executionId);
          await worker.at('after the booking');
          return { booked: cents };
        },
      }),
    ],
    calls: { book_trip: fc.record({ cents: fc.constantFrom(60, 80) }) },
    invariants: {
      'nothing is reserved for a call that has failed': ({ world, executions }) => {
        const failed = executions.filter(({ status, isUnknown }) => status === 'FAILED' && !isUnknown);
        const held = failed.find(({ executionId }) => world.reserved.has(executionId));
        return held === undefined || `still reserved: ${world.reserved.get(held.executionId)?.cents}`;
      },
    },
  },
};
