import { defineTool, done, notDone, type Tool, type ToolContext, ToolError } from 'turnlock';
import { z } from 'zod';

/*
 * One tool of each effect class. The class follows from what the receiver can do, not from what the tool is called: the same refund is
 * `idempotent` at a receiver that knows keys and `nonRepeatable` at one that does not.
 */

const order = z.object({ orderId: z.string(), cents: z.int().positive() });

/** Milliseconds that a call may take that must not be repeated: so long, and a grace period, passes before a person is asked. */
const TIMEOUT_MS = 3_000;

/** The tools of a shop's agent. `payments` is the address of the payments service; `wrote` is called between a write and its commit. */
export function shopTools({ payments, wrote }: { payments: string; wrote: () => Promise<void> }): Tool[] {
  return [
    // It changes nothing: asked again, no harm is done.
    defineTool({
      name: 'lookUpOrder',
      description: 'What was ordered and what it cost.',
      inputSchema: order.pick({ orderId: true }),
      effect: 'readOnly',
      execute: async ({ orderId }, { signal }) =>
        (await ask<{ item: string }>(`${payments}/orders/${orderId}`, { signal })).item,
    }),
    // The receiver knows keys: it books once for each, however often it is asked.
    defineTool({
      name: 'refund',
      description: 'Pays an order back to the card that paid it.',
      inputSchema: order,
      effect: 'idempotent',
      execute: (params, context) => refund(payments, params, context, { honoursKeys: true }),
    }),
    // It writes to the database of the sessions: the credit and the record of it are one commit.
    defineTool({
      name: 'credit',
      description: 'Writes a credit to the account of the customer.',
      inputSchema: order,
      effect: 'transactional',
      async execute({ orderId, cents }, { transaction, userId }) {
        await transaction.query('create table if not exists credits (user_id text, order_id text, cents integer)');
        await transaction.query('insert into credits values ($1, $2, $3)', [userId, orderId, cents]);
        await wrote();
        const { rows } = await transaction.query<{ cents: number }>('select sum(cents)::integer as cents from credits');
        return `the account has ${rows[0]?.cents}`;
      },
    }),
    // The receiver knows no keys, but it says what it did: it is asked once nobody can be at it any more.
    defineTool({
      name: 'refundByBank',
      description: 'Pays an order back by bank transfer.',
      inputSchema: order,
      effect: 'reconcilable',
      timeoutMs: TIMEOUT_MS,
      execute: (params, context) => refund(payments, params, context, { honoursKeys: false }),
      async reconcile(_, { idempotencyKey, signal }) {
        const { refunds } = await ask<Refunds>(`${payments}/refunds?key=${idempotencyKey}`, { signal });
        return refunds[0] === undefined ? notDone() : done(refunds[0].refundId);
      },
    }),
    // The receiver knows no keys and tells nobody what it did: after a crash a person has to find out.
    defineTool({
      name: 'refundInCash',
      description: 'Sends a courier with the money.',
      inputSchema: order,
      effect: 'nonRepeatable', // also the default
      timeoutMs: TIMEOUT_MS,
      execute: (params, context) => refund(payments, params, context, { honoursKeys: false, tellsRefunds: false }),
    }),
  ];
}

/** What the receiver says that it booked. */
interface Refunds {
  refunds: { refundId: string }[];
}

/** Asks for a refund at a receiver of this kind. @returns the refund's number. */
async function refund(payments: string, params: object, { idempotencyKey, signal }: ToolContext, receiver: object) {
  const { refundId } = await ask<{ refundId: string }>(`${payments}/refunds`, {
    method: 'POST',
    headers: { 'idempotency-key': idempotencyKey, 'payments-behaviour': JSON.stringify(receiver) },
    body: JSON.stringify(params),
    signal,
  });
  return refundId;
}

async function ask<Answer>(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  // A plain Error says that nothing was done: where it may have been, say so.
  const outcome = response.status >= 500 ? 'unknown' : 'failed';
  if (!response.ok) throw new ToolError(`the payments service answered ${response.status}`, { outcome });
  return (await response.json()) as Answer;
}
