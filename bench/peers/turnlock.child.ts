import { z } from 'zod';
import { postgres } from '../../adapters/databases/postgres.ts';
import { scripted } from '../../adapters/models/scripted.ts';
import { createRuntime, defineAgent, defineTool, done, notDone, type ToolContext } from '../../index.ts';
import { isResting } from '../../machines/session-state.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { ended, lookUp, mayGoOn, payBack, stopAt, task } from './peer-process.ts';
import { CENTS, MESSAGE } from './peer-task.ts';

/*
 * Turnlock: the tool says what a repeat would do, which follows from its receiver. Another process goes on with `runtime.recover()`, as a
 * worker does by itself.
 */

/** Milliseconds that the act may take. Nobody is asked about it, and it is not repeated, before they and the grace period are over. */
const TIMEOUT_MS = 8_000;

const definition = {
  name: 'refund',
  description: 'Pays an order back.',
  inputSchema: z.object({ orderId: z.string(), cents: z.int() }),
  timeoutMs: TIMEOUT_MS,
  execute: (_: unknown, { idempotencyKey }: ToolContext) => payBack(idempotencyKey),
};
const refunds = {
  keys: () => defineTool({ ...definition, effect: 'idempotent' }),
  lookUp: () =>
    defineTool({
      ...definition,
      effect: 'reconcilable',
      async reconcile() {
        const found = await lookUp();
        return found === null ? notDone() : done(found);
      },
    }),
  neither: () => defineTool({ ...definition, effect: 'nonRepeatable' }),
};
const support = defineAgent({
  name: 'support',
  instructions: 'Help customers with their orders.',
  model: scripted(async ({ turns }) => {
    const last = turns.at(-1);
    if (last?.role !== 'tool')
      return { toolCalls: [{ toolName: 'refund', input: { orderId: task.orderId, cents: CENTS } }] };
    await stopAt('afterTheRecord');
    return `Refunded: ${last.text}`;
  }),
  tools: [refunds[task.receiver]()],
});

await mayGoOn();
const runtime = await createRuntime({
  database: postgres(task.database),
  agents: [support],
  migrate: task.does === 'set' ? 'auto' : 'check',
  limits: { leaseMs: 1_000, heartbeatMs: 300, graceMs: 1_000 }, // a dead process is noticed within a second
  onWarning: () => undefined, // the role here owns the tables
});
if (task.does === 'set') await ended('set up');
const session = await runtime.createSession({
  agent: 'support',
  tenantId: 'shop',
  userId: 'ana',
  externalId: task.name, // known: it is opened
});
if (task.does === 'go') await (await session.send(MESSAGE, { messageId: 'complaint' })).result();
else {
  const rests = async () => {
    await runtime.recover();
    return isResting((await session.status()).state);
  };
  await waitFor(rests, { for: 'the session to rest', timeoutMs: 30_000, everyMs: 50 });
}
const { state, awaiting } = await session.status();
const reply = (await session.history()).at(-1)?.content ?? '';
await ended(state === 'AWAITING_INPUT' ? `a person is asked about ${awaiting.length} call` : reply);
