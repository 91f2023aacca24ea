import fc from 'fast-check';
import { z } from 'zod';
import { defineTool } from '../../index.ts';
import type { ToolPolicyCheck } from '../../testing/check-tool-policy.ts';

/** How a seat is kept from being taken by two. */
const LOCK = {
  none: null,
  /** Nobody else looks before the transaction has come to its end. */
  ofTheSeat: 'SELECT pg_advisory_xact_lock(hashtext($1))',
} as const;

/** A transactional tool that looks whether a seat is free, and takes it. Two of them at the same time may both find it free. */
export function seatCheck(lock: keyof typeof LOCK): ToolPolicyCheck<null> {
  return {
    world: () => null,
    tools: (_, process) => [
      defineTool({
        name: 'take',
        description: 'Takes a seat.',
        inputSchema: z.object({ seat: z.string() }),
        effect: 'transactional',
        async execute({ seat }, { transaction, sessionId }) {
          const statement = LOCK[lock];
          if (statement !== null) await transaction.query(statement, [seat]);
          const { rows } = await transaction.query('SELECT FROM public.seats WHERE seat = $1', [seat]);
          await process.at('between look and act');
          if (rows.length > 0) return 'taken before';
          await transaction.query('INSERT INTO public.seats (seat, session_id) VALUES ($1, $2)', [seat, sessionId]);
          return `has ${seat}`;
        },
      }),
    ],
    calls: { take: fc.record({ seat: fc.constantFrom('1A', '1B') }) },
    invariants: {
      'a seat is taken by one': ({ executions }) => {
        const taken = executions.flatMap(({ output }) => (String(output).startsWith('has ') ? [output] : []));
        return new Set(taken).size === taken.length || `taken: ${taken.join(', ')}`;
      },
    },
    prepare: async (query) => {
      await query('CREATE TABLE public.seats (number int GENERATED ALWAYS AS IDENTITY, seat text, session_id uuid)');
    },
    sessions: { tenants: 1, users: 1, sessions: 2 },
  };
}

/** Two sessions ask for the same seat, at the same time and by two processes. */
export const TWO_ASK = JSON.stringify({
  form: 1,
  ids: 5,
  order: 0,
  commands: [
    {
      type: 'message',
      session: 1,
      process: 1,
      replies: [[{ tool: 'take', params: { seat: '1A' } }]],
      isOvertaken: true,
    },
    { type: 'message', session: 2, process: 2, replies: [[{ tool: 'take', params: { seat: '1A' } }]] },
  ],
});
