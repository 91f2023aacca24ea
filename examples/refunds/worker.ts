import { createRuntime, defineAgent, type Session } from 'turnlock';
import { pglite } from 'turnlock/pglite';
import { scripted } from 'turnlock/scripted';
import { shopTools } from './tools.ts';

/*
 * A process that works for the shop's agent until it is killed. Its parent tells it what to do and hears what came of it.
 */

/** What it can be told. */
export type Order =
  | { does: 'serve'; conversation: string; message: string; stallsAtWrite?: boolean }
  | { does: 'goOn'; conversation: string }
  | { does: 'settle'; conversation: string; happened: boolean };

/** How a conversation stands. */
export interface Standing {
  state: string;
  reply: string;
  /** Executions about which a person is asked. */
  awaiting: { toolName: string; idempotencyKey: string }[];
}

const [directory = '', payments = ''] = process.argv.slice(2);

let stallsAtWrite = false;

/** Goes no further where it is to be killed between a write and its commit. */
async function wrote(): Promise<void> {
  if (!stallsAtWrite) return;
  process.send?.({ hasWritten: true });
  await new Promise(() => undefined);
}

/** A model without a provider. It calls the tool that the message names, once, and then says what the tool said. */
const model = scripted(({ turns }) => {
  const last = turns.at(-1);
  if (last?.role === 'tool') return `The tool said: ${last.text}`;
  const [toolName = '', orderId = '', cents] = (last?.text ?? '').split(' ');
  return { toolCalls: [{ toolName, input: { orderId, ...(cents ? { cents: Number(cents) } : {}) } }] };
});
const shop = defineAgent({
  name: 'shop',
  instructions: 'Help with orders.',
  model,
  tools: shopTools({ payments, wrote }),
});

const runtime = await createRuntime({
  database: pglite(directory),
  agents: [shop],
  limits: { graceMs: 1_000 }, // short, so that a person is asked soon
});

async function carryOut(order: Order): Promise<Standing> {
  const externalId = order.conversation;
  if (order.does === 'serve') {
    stallsAtWrite = order.stallsAtWrite ?? false;
    const session = await runtime.createSession({ agent: 'shop', tenantId: 'acme', userId: 'ana', externalId });
    await (await session.send(order.message, { messageId: 'message' })).result();
    return await standingOf(session);
  }
  const session = await runtime.session({ tenantId: 'acme', externalId });
  if (order.does === 'goOn') await runtime.recover();
  else await settle(session, order.happened);
  return await standingOf(session);
}

/** A person says what happened. */
async function settle(session: Session, happened: boolean): Promise<void> {
  const { awaiting } = await session.status();
  for (const { executionId } of awaiting) {
    const settlement = happened
      ? ({ outcome: 'succeeded', output: 'it was paid', by: 'eva' } as const)
      : ({ outcome: 'failed', reason: 'nothing was paid', by: 'eva' } as const);
    await (await session.settle(executionId, settlement)).result();
  }
}

async function standingOf(session: Session): Promise<Standing> {
  const { state, awaiting } = await session.status();
  const reply = (await session.history()).findLast(({ role }) => role === 'assistant')?.content ?? '';
  return { state, reply, awaiting: awaiting.map(({ toolName, idempotencyKey }) => ({ toolName, idempotencyKey })) };
}

process.on('disconnect', () => process.exit());
process.on('message', async (order: Order) => {
  try {
    process.send?.({ standing: await carryOut(order) });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
});
process.send?.({ isReady: true });
