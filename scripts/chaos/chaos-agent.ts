import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { scripted } from '../../adapters/models/scripted.ts';
import { type Agent, defineAgent, defineTool, type Limits, type ModelRequest, type Tool } from '../../index.ts';

/** Bounds of every process here: whoever dies is noticed within a second. */
export const CHAOS_LIMITS: Partial<Limits> = {
  leaseMs: 1_000,
  heartbeatMs: 300,
  graceMs: 300,
  sweepMs: 300,
  toolTimeoutMs: 2_000,
  modelBackoffMs: 50,
  maxModelAttempts: 10,
  // A run may lose its worker often here; where it loses it too often it ends in FAILED and is retried by the person.
  maxRecoveries: 8,
  maxToolAttempts: 8,
};

/** What an act leaves behind in the world. */
export interface Act {
  tool: 'note' | 'charge';
  key: string;
  n: number;
  attempt: number;
  pid: number;
}

/**
 * The agent of every worker. A message is a list of calls, `note 1, charge 2 #id`; the reply names the id. `note` may be repeated, `charge`
 * may not. A careless tool does not look at its signal before it acts: then only the ledger of claims stands between it and a second act.
 */
export function chaosAgent(act: (act: Act) => void): Agent {
  const tool = (name: Act['tool'], effect: 'idempotent' | 'nonRepeatable', isCareless: boolean): Tool =>
    defineTool({
      name,
      description: `Does ${name}.`,
      inputSchema: z.object({ n: z.int() }),
      effect,
      execute: async ({ n }, { idempotencyKey: key, attempt, signal }) => {
        await sleep(Math.random() * 400);
        if (!isCareless) signal.throwIfAborted();
        act({ tool: name, key, n, attempt, pid: process.pid });
        await sleep(Math.random() * 200);
        return { did: `${name} ${n}` };
      },
    });
  return defineAgent({
    name: 'chaos',
    model: scripted(answer),
    instructions: 'Do what you are told.',
    tools: [tool('note', 'idempotent', false), tool('charge', 'nonRepeatable', true)],
  });
}

async function answer({ turns }: ModelRequest) {
  await sleep(Math.random() * 200);
  if (Math.random() < 0.03) throw new Error('the model is busy');
  const place = turns.findLastIndex(({ role }) => role === 'user');
  const [calls = '', id = ''] = (turns[place]?.text ?? '').split(' #');
  const isAnswered = turns.slice(place).some(({ role }) => role === 'assistant');
  if (isAnswered || calls === 'say') return `done #${id}`;
  return {
    toolCalls: calls.split(', ').map((words) => {
      const [toolName = '', n] = words.split(' ');
      return { toolName, input: { n: Number(n) } };
    }),
  };
}
