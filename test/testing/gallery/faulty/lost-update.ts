import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../../../index.ts';
import type { ToolsEntry } from '../gallery-entry.ts';

/** The points of the customers of a shop. What a call adds is set in one step with its key, so a repeat adds nothing. */
class Points {
  readonly #totals = new Map<string, number>();
  readonly #added = new Map<string, { owner: string; points: number }>();

  total(owner: string): number {
    return this.#totals.get(owner) ?? 0;
  }

  set(added: { key: string; owner: string; points: number }, total: number): void {
    if (this.#added.has(added.key)) return;
    this.#added.set(added.key, added);
    this.#totals.set(added.owner, total);
  }

  areAllThere(): boolean | string {
    const added = [...this.#added.values()];
    const lost = added.find(({ owner }) => {
      const wanted = added.filter((one) => one.owner === owner).reduce((sum, { points }) => sum + points, 0);
      return wanted !== this.total(owner);
    });
    return lost === undefined || `points were lost: of ${lost.owner}`;
  }
}

/** Reached by two calls of one user, in one answer or in two sessions, one of which is stalled between its look and its write. */
export const lostUpdate: ToolsEntry<Points> = {
  name: 'lost-update',
  title: 'It reads the total, adds to it, waits for something and writes the sum, over what was added meanwhile.',
  mistake: 'check, then act',
  kind: 'tools',
  check: {
    world: () => new Points(),
    tools: (shop, worker) => [
      defineTool({
        name: 'add_points',
        description: 'Adds points to the account of the user.',
        inputSchema: z.object({ points: z.int().positive() }),
        effect: 'idempotent',
        execute: async ({ points }, { tenantId, userId, idempotencyKey: key }) => {
          const owner = `${tenantId}/${userId}`;
          const total = shop.total(owner) + points;
          await worker.at('between look and write');
          shop.set({ key, owner, points }, total);
          return { total };
        },
      }),
    ],
    calls: { add_points: fc.record({ points: fc.constantFrom(1, 2) }) },
    invariants: { 'all points that were added are there': ({ world }) => world.areAllThere() },
  },
};
