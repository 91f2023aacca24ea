import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { scripted } from '../../../adapters/models/scripted.ts';
import { type Agent, defineAgent, defineTool } from '../../../index.ts';

/**
 * An agent that calls `charge` once, which may not be repeated: it writes a line to `begun`, waits until a file `go` is there, and writes
 * one to `acts`. All in `folder`.
 */
export function chargingAgent(folder: string): Agent {
  const charge = defineTool({
    name: 'charge',
    description: 'Charges.',
    inputSchema: z.looseObject({}),
    execute: async (_, { sessionId }) => {
      appendFileSync(`${folder}/begun`, `${sessionId}\n`);
      while (!existsSync(`${folder}/go`)) await pause(10);
      appendFileSync(`${folder}/acts`, `${sessionId}\n`);
      return 'charged';
    },
  });
  const model = scripted(({ turns }) =>
    turns.at(-1)?.role === 'tool' ? 'done' : { toolCalls: [{ toolName: 'charge', input: {} }] },
  );
  return defineAgent({ name: 'charging', instructions: 'Charge.', tools: [charge], model });
}
