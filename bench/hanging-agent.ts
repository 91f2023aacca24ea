import { z } from 'zod';
import { scripted } from '../adapters/models/scripted.ts';
import { type Agent, defineAgent, defineTool } from '../index.ts';

/** An agent whose worker has to die before it gets on: the first attempt of its only call says that it began, and never ends. */
export function hangingAgent(onBegin: () => void): Agent {
  const hang = defineTool({
    name: 'hang',
    description: 'Comes to no end at the first attempt.',
    inputSchema: z.object({}),
    effect: 'readOnly',
    execute: (_, { attempt }) => {
      if (attempt > 1) return 'done';
      onBegin();
      return new Promise<string>(() => undefined);
    },
  });
  return defineAgent({
    name: 'hanging',
    model: scripted(({ turns }) =>
      turns.at(-1)?.role === 'tool' ? 'It is done.' : { toolCalls: [{ toolName: 'hang', input: {} }] },
    ),
    instructions: 'Hang.',
    tools: [hang],
  });
}
