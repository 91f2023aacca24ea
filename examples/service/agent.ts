import { allow, defineAgent, defineTool, requireApproval, type ToolContext, ToolError } from 'turnlock';
import { z } from 'zod';
import { chooseModel } from './model.ts';

/** Above this a manager has to agree. */
const FREE_CENTS = 10_000;

const GOODS = [
  { item: 'a desk lamp', cents: 4_900 },
  { item: 'a wardrobe', cents: 34_900 },
  { item: 'a vase', cents: 3_150 },
  { item: 'a kettle', cents: 2_490 },
  { item: 'a bicycle', cents: 62_000 },
];

const order = z.object({ orderId: z.string().regex(/^\d{1,9}$/) });
const payment = order.extend({ cents: z.int().positive() });

const INSTRUCTIONS = `You are the assistant of a shop's support desk. You act through your tools and say only what they told you.
To give money back, look the order up first and refund exactly what it cost: with refundInCash if cash is wanted, else with refund.
Refund an order once. If a refund failed, or nobody knows whether it happened, say so and do not try it again.
Without the number of an order, ask for it. Answer in one or two sentences, without Markdown.`;

/** The agent of the desk. `payments` is the address of the payments service, `worker` the name of the process for its ledger. */
export async function supportAgent({ payments, worker }: { payments: string; worker: string }) {
  const lookUpOrder = defineTool({
    name: 'lookUpOrder',
    description: 'What was ordered and what it cost.',
    inputSchema: order,
    effect: 'readOnly',
    execute: async ({ orderId }) => GOODS[Number(orderId) % GOODS.length] ?? null,
  });

  // The payments service books once for each key: asked again, it does no harm. So a worker that takes over asks again, by itself.
  const refund = defineTool({
    name: 'refund',
    description: 'Pays an order back to the card that paid it.',
    inputSchema: payment,
    effect: 'idempotent',
    once: { per: 'tenant', key: ({ orderId }) => orderId },
    policy: ({ cents }) =>
      cents <= FREE_CENTS
        ? allow()
        : requireApproval({ question: 'More than 100 euros: a manager decides.', approvers: { roles: ['manager'] } }),
    execute: (params, context) => pay(params, context, { 'idempotency-key': context.idempotencyKey }),
  });

  // A courier cannot be asked what he did: after a crash a person finds out, and says so in the inspector.
  const refundInCash = defineTool({
    name: 'refundInCash',
    description: 'Sends a courier with the money.',
    inputSchema: payment,
    effect: 'nonRepeatable',
    timeoutMs: 10_000,
    execute: (params, context) => pay(params, context, {}),
  });

  async function pay(params: z.infer<typeof payment>, { signal }: ToolContext, headers: Record<string, string>) {
    const body = JSON.stringify(params);
    const sent = { ...headers, 'x-worker': worker };
    const response = await fetch(payments, { method: 'POST', headers: sent, body, signal });
    if (!response.ok) throw new ToolError(`the payments service answered ${response.status}`);
    return (await response.json()) as { refundId: string };
  }

  return defineAgent({
    name: 'support',
    instructions: INSTRUCTIONS,
    model: await chooseModel(),
    tools: [lookUpOrder, refund, refundInCash],
  });
}
