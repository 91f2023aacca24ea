import { z } from 'zod';
import { scripted } from '../../../adapters/models/scripted.ts';
import { type Agent, defineAgent, defineTool } from '../../../index.ts';
import type { ProcessUnderTest } from '../../../testing/subject.ts';

/** Whose sessions they are. */
export const owner = { agent: 'support', tenantId: 'acme', userId: 'ann' } as const;
export const inputSchema = z.object({ cents: z.int() });
/** Asks for one call, and says that it is done. */
export const model = scripted([{ toolCalls: [{ toolName: 'charge', input: { cents: 5 } }] }, 'done']);

/** An act, by the number of its process, with the key of its call. */
export interface Act {
  by: number;
  key: string;
}

/** An agent that charges once, and notes by which process and with which key each act was done. */
export function charging(acts: Act[]) {
  return (process: ProcessUnderTest): readonly [Agent] => [
    defineAgent({
      name: 'support',
      instructions: 'Charge.',
      model,
      tools: [
        defineTool({
          name: 'charge',
          description: 'Charges.',
          inputSchema,
          effect: 'idempotent',
          async execute(_params, { idempotencyKey }) {
            await process.at('before the act');
            acts.push({ by: process.number, key: idempotencyKey });
            await process.at('after the act');
            return 'charged';
          },
        }),
      ],
    }),
  ];
}
