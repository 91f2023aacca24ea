import { z } from 'zod';
import { scripted } from '../adapters/models/scripted.ts';
import { type Agent, defineAgent, defineTool } from '../index.ts';

const double = defineTool({
  name: 'double',
  description: 'Doubles a number.',
  inputSchema: z.object({ n: z.number() }),
  effect: 'idempotent',
  execute: ({ n }) => n * 2,
});

/** The message on which the agent asks for eight calls at once, to make turns in little time; on any other it asks for one. */
export const EIGHT_CALLS = 'Double one to eight.';

/** Turns of a run with that message: the message, the calls, eight results, the reply. */
export const TURNS_OF_EIGHT_CALLS = 11;

/** An agent that answers each message after one round of tool calls. Neither its model nor its tool takes any time. */
export const oneToolAgent: Agent = defineAgent({
  name: 'bench',
  model: scripted(({ turns }) => {
    const last = turns.at(-1);
    if (last?.role === 'tool') return 'It is done.';
    const numbers = last?.text === EIGHT_CALLS ? [1, 2, 3, 4, 5, 6, 7, 8] : [21];
    return { toolCalls: numbers.map((n) => ({ toolName: 'double', input: { n } })) };
  }),
  instructions: 'Double what you are given.',
  tools: [double],
});
