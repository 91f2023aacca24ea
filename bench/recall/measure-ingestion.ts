import type { Runtime } from '../../index.ts';
import type { MadeMemory } from './clustered-memories.ts';
import type { Owner } from './tenants-of.ts';

/** How many calls of `remember` are under way at the same time. */
const AT_ONCE = 4;

/** Memories per second by `remember`, each a transaction of its own, until every one is stored; and, where the runtime embeds, has its vector. */
export async function measureIngestion(
  runtime: Runtime,
  { tenantId, userId }: Omit<Owner, 'memories'>,
  memories: readonly MadeMemory[],
  isEmbedded: () => Promise<boolean>,
): Promise<number> {
  const memory = runtime.memory({ tenantId, userId });
  const waiting = [...memories];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await memory.remember({ kind: 'fact', content: next.content });
      }
    }),
  );
  while (!(await isEmbedded())) await new Promise((resolve) => setTimeout(resolve, 5));
  return Math.round((memories.length / (performance.now() - began)) * 1_000);
}
