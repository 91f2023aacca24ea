import fc from 'fast-check';
import { z } from 'zod';
import { defineTool, requireApproval } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';

const HOUR_MS = 3_600_000;

/** A desk whose offers are good for an hour. Whether one is, its customers see to. */
class ExchangeDesk {
  /** By call, until when its offer is good. */
  readonly offers = new Map<string, number>();
  readonly sales = new Map<string, number>();

  offer(executionId: string, now: number): void {
    if (!this.offers.has(executionId)) this.offers.set(executionId, now + HOUR_MS);
  }

  /** Sells at the price of the offer, once for each call. */
  sell(executionId: string, now: number): void {
    if (!this.sales.has(executionId)) this.sales.set(executionId, now);
  }
}

/**
 * Reached by a call, a jump of the clock by hours or weeks while a person is asked, and an approval. The question has no end of its own.
 */
export const priceOfAnHourAgo: ToolsEntry<ExchangeDesk> = {
  name: 'price-of-an-hour-ago',
  title: 'A person is asked about a price that is good for an hour, and may approve it at any time.',
  mistake: 'an approval that comes too late',
  kind: 'tools',
  check: {
    world: () => new ExchangeDesk(),
    tools: (desk, worker) => [
      defineTool({
        name: 'buy_currency',
        description: 'Buys foreign money at the price of the moment.',
        inputSchema: z.object({ cents: z.int().positive() }),
        effect: 'idempotent',
        policy: (_, { executionId }) => {
          desk.offer(executionId, worker.now());
          return requireApproval({ question: 'At a price that is good for an hour' });
        },
        execute: async ({ cents }, { executionId }) => {
          await worker.at('before the desk');
          desk.sell(executionId, worker.now());
          await worker.at('after the desk');
          return { bought: cents };
        },
      }),
    ],
    calls: { buy_currency: fc.record({ cents: fc.constantFrom(5, 10) }) },
    invariants: {
      'nothing is sold at a price that is no longer good': ({ world }) =>
        [...world.sales].every(([executionId, at]) => at <= (world.offers.get(executionId) ?? 0)),
    },
  },
};
