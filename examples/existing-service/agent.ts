import type { Pool } from 'pg';
import { defineAgent, defineTool } from 'turnlock';
import { scripted } from 'turnlock/scripted';
import { z } from 'zod';

/** The agent that answers complaints. Its tool looks into the service's tables, on a connection of its own. */
export function complaintsAgent(pool: Pool) {
  const complaint = defineTool({
    name: 'complaint',
    description: 'Says what the complaint is about.',
    inputSchema: z.object({}),
    effect: 'readOnly',
    async execute(_, { tenantId, sessionId }) {
      const { rows } = await pool.query<{ article: string }>(
        `select article from shop.complaints join shop.orders using (order_id) where (tenant_id, session_id) = ($1, $2)`,
        [tenantId, sessionId],
      );
      return rows[0]?.article ?? 'no complaint';
    },
  });
  const model = scripted(({ turns }) => {
    const last = turns.at(-1);
    if (last?.role === 'tool') return `I am sorry about the ${last.text}.`;
    return { toolCalls: [{ toolName: 'complaint', input: {} }] };
  });
  return defineAgent({ name: 'complaints', instructions: 'Answer complaints.', model, tools: [complaint] });
}
