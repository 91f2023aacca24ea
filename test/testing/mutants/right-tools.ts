import fc from 'fast-check';
import { z } from 'zod';
import { defineTool, type Tool } from '../../../index.ts';
import type { ToolPolicyCheck } from '../../../testing/check-tool-policy.ts';
import type { ProcessUnderTest } from '../../../testing/subject.ts';

/** What was done, by the key under which it was asked for. */
type World = Map<string, number>;

const inputSchema = z.object({ what: z.enum(['a', 'b']) });

/** Does a thing once for each key, however often it is called. */
function note(world: World, process: ProcessUnderTest): Tool {
  return defineTool({
    name: 'note',
    description: 'Notes a thing.',
    inputSchema,
    effect: 'idempotent',
    execute: async (_params, { idempotencyKey }) => {
      await process.at('before it is noted');
      world.set(idempotencyKey, 1);
      return null;
    },
  });
}

/** Longer than it takes until somebody looks for what nobody is at: then the call is still under way. */
const LONG_MS = 15 * 60_000;

/** Does a thing each time that it is called: whoever does not know whether it was, asks. */
function act(world: World, process: ProcessUnderTest): Tool {
  return defineTool({
    name: 'act',
    description: 'Does a thing.',
    inputSchema,
    timeoutMs: LONG_MS,
    execute: async (_params, { idempotencyKey }) => {
      await process.at('before it is done');
      world.set(idempotencyKey, (world.get(idempotencyKey) ?? 0) + 1);
      return null;
    },
  });
}

const makers = { note, act };

/** A check of tools that are right, by their names: what it finds is Turnlock's. */
export function rightTools(names: readonly (keyof typeof makers)[]): ToolPolicyCheck<World> {
  const params = fc.record({ what: fc.constantFrom('a' as const, 'b' as const) });
  return {
    world: () => new Map(),
    tools: (world, process) => names.map((name) => makers[name](world, process)),
    calls: Object.fromEntries(names.map((name) => [name, params])),
    people: {
      settle: (world, { idempotencyKey }) => {
        return world.has(idempotencyKey) ? { outcome: 'succeeded', output: null } : { outcome: 'failed' };
      },
    },
    invariants: { 'nothing is done twice': ({ world }) => [...world.values()].every((count) => count === 1) },
  };
}
