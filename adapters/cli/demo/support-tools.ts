import { z } from 'zod';
import { defineTool } from '../../tools/define-tool.ts';
import type { Tool, ToolContext, ToolEffect } from '../../tools/tool.contract.ts';
import { ToolError } from '../../tools/tool-error.ts';

const orderId = z.string().regex(/^\d+$/);

/** Milliseconds that the refund may take. Short, since after that and the grace period nobody can be at it any more. */
const REFUND_TIMEOUT_MS = 3_000;

/** The tools of a support agent. They act on the shop and its payments service, which listens on `port`. */
export function supportTools({ port, refundEffect }: { port: number; refundEffect: ToolEffect }): Tool[] {
  return [
    defineTool({
      name: 'lookUpOrder',
      description: 'What was ordered and what it cost.',
      inputSchema: z.object({ orderId }),
      effect: 'readOnly',
      execute: (params, context) => call(port, `GET /orders/${params.orderId}`, context),
    }),
    defineTool({
      name: 'checkPolicy',
      description: 'Whether the shop refunds for a reason.',
      inputSchema: z.object({ reason: z.enum(['damaged', 'unwanted']) }),
      effect: 'readOnly',
      execute: ({ reason }) => ({ isRefundable: reason === 'damaged' }),
    }),
    defineTool({
      name: 'refund',
      description: 'Pays an order back.',
      inputSchema: z.object({ orderId, cents: z.int().positive() }),
      effect: refundEffect,
      timeoutMs: REFUND_TIMEOUT_MS,
      execute: (params, context) => call(port, 'POST /refunds', context, params),
    }),
    defineTool({
      name: 'notifyCustomer',
      description: 'Writes to the customer.',
      inputSchema: z.object({ orderId, text: z.string() }),
      effect: 'idempotent',
      execute: (params, context) => call(port, 'POST /messages', context, params),
    }),
  ];
}

async function call(port: number, route: string, context: ToolContext, body?: unknown): Promise<unknown> {
  const [method = 'GET', path = '/'] = route.split(' ');
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'idempotency-key': context.idempotencyKey },
    signal: context.signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.ok) return response.json();
  const outcome = response.status >= 500 ? 'unknown' : 'failed';
  throw new ToolError(`the payments service refused: ${route} (found status ${response.status})`, { outcome });
}
