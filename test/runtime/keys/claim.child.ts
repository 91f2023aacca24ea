import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { scripted } from '../../../adapters/models/scripted.ts';
import { createRuntime, defineAgent, defineTool } from '../../../index.ts';
import { parentChannel } from '../../support/child-channel.ts';

/** A process that refunds the orders that it is told, once each, and says what its model was told. */
const { url, ledger } = JSON.parse(process.argv[2] ?? '') as { url: string; ledger: string };
const parent = parentChannel();
const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  inputSchema: z.object({ order: z.string() }),
  once: { per: 'tenant', key: ({ order }) => order },
  execute: async ({ order }) => {
    await pause(Math.random() * 20);
    appendFileSync(ledger, `${order} ${process.pid}\n`);
    await pause(Math.random() * 20);
    return `refunded ${order}`;
  },
});
const agent = defineAgent({
  name: 'refunds',
  model: scripted(({ turns }) => {
    const last = turns.at(-1);
    if (last?.role === 'tool') return last.text;
    return { toolCalls: [{ toolName: 'refund', input: { order: last?.text } }] };
  }),
  instructions: 'Refund.',
  tools: [refund],
});
const runtime = await createRuntime({
  database: postgres(url),
  agents: [agent],
  migrate: 'check',
  onWarning: () => undefined,
});
await parent.say('ready');
for (;;) {
  const { order } = await parent.hear('refund');
  const session = await runtime.createSession({ agent: 'refunds', tenantId: 'tenant', userId: 'user' });
  const { reply, state } = await (await session.send(order as string)).result();
  await parent.say('told', { order, reply, state });
}
