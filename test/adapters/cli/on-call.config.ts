import { z } from 'zod';
import { scripted } from '../../../adapters/models/scripted.ts';
import { defineAgent, defineTool, requireApproval, TurnlockError, versioned } from '../../../index.ts';

const V1 = z.object({ order: z.number() });

/** The build that a user has deployed; `next`: the one that is to come. */
export function onCallAgent({ next = false, isBroken = false }: { next?: boolean; isBroken?: boolean } = {}) {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: next
      ? versioned(V1).to(z.object({ orderId: z.string() }), ({ order }) => ({ orderId: `A-${order}` }))
      : V1,
    policy: () => requireApproval(),
    execute: () => 'paid',
  });
  const model = scripted(({ turns }) => {
    const last = turns.at(-1)!;
    if (isBroken) throw new TurnlockError('MODEL_FAILED', { message: 'key is wrong', retryable: false });
    if (last.role === 'tool' || last.text === 'hello') return 'done';
    return { text: '', toolCalls: [{ toolName: 'pay', input: { order: 7 } }] };
  });
  return defineAgent({ name: 'on-call', version: next ? 2 : 1, model, instructions: 'Help.', tools: [pay] });
}

/** What a user's configurations export. */
export const config = { agents: [onCallAgent()] };
export const nextConfig = { agents: [onCallAgent({ next: true })] };
