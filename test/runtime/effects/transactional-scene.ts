import { z } from 'zod';
import type { TransactionalContext } from '../../../index.ts';
import { type Agent, defineTool, type Tool } from '../../../index.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun } from '../../support/runtime-script.ts';

type Execute = (params: { order: string }, context: TransactionalContext) => unknown;

/** A transactional tool that books refunds of orders. */
export function bookingTool(execute: Execute, more: { timeoutMs?: number; retry?: { attempts: number } } = {}): Tool {
  return defineTool({
    name: 'book',
    description: 'Books a refund.',
    inputSchema: z.object({ order: z.string() }),
    effect: 'transactional',
    ...more,
    execute,
  });
}

/** An agent that books the refund of `order`, and then is done. */
export function bookingAgent(order: string, execute: Execute, more: Parameters<typeof bookingTool>[1] = {}): Agent {
  return scriptedAgent(eachRun({ toolCalls: [call('book', { order })] }, 'done'), [bookingTool(execute, more)]);
}

/** The program's own tables, which belong to its own role and not to the schema of the runtime. */
export async function makeShop({ query }: RuntimeDatabase): Promise<void> {
  await query('CREATE SCHEMA IF NOT EXISTS shop');
  await query(`CREATE TABLE IF NOT EXISTS shop.refunds (
    refund_id int GENERATED ALWAYS AS IDENTITY, order_id text NOT NULL, execution_id uuid NOT NULL, at timestamptz NOT NULL DEFAULT now())`);
  await query(`CREATE TABLE IF NOT EXISTS shop.orders (order_id text PRIMARY KEY)`);
  await query(`CREATE TABLE IF NOT EXISTS shop.lines (
    line_id int PRIMARY KEY, order_id text REFERENCES shop.orders DEFERRABLE INITIALLY DEFERRED)`);
}

export const INSERT = 'INSERT INTO shop.refunds (order_id, execution_id) VALUES ($1, $2) RETURNING refund_id';

/** How many refunds of `order` there are. */
export async function refundsOf({ query }: RuntimeDatabase, order: string): Promise<number> {
  return (await query('SELECT FROM shop.refunds WHERE order_id = $1', [order])).length;
}

/** The execution of a session's one call. */
export async function executionOf({ query }: RuntimeDatabase, sessionId: string) {
  const [row] = await query(
    'SELECT status, attempt, error_code, error_message, output_payload AS output FROM turnlock.agent_tool_executions WHERE session_id = $1',
    [sessionId],
  );
  return row;
}
