import { z } from 'zod';
import { scripted } from '../../../adapters/models/scripted.ts';
import { type Agent, defineAgent, defineTool } from '../../../index.ts';

/**
 * An agent that calls `refund` once, which may not be repeated, and then says what became of it. `hangs`: neither its model nor its tool
 * ever answers, so that a session is left behind that owes work or has an unknown outcome.
 */
export function supportAgent({ hangs }: { hangs?: 'model' | 'tool' } = {}): Agent {
  const refund = defineTool({
    name: 'refund',
    description: 'Pays an order back.',
    inputSchema: z.looseObject({ orderId: z.number() }),
    timeoutMs: hangs === 'tool' ? 1_500 : 10_000,
    execute: () => (hangs === 'tool' ? new Promise(() => undefined) : { refunded: true }),
  });
  const model = scripted((request, { signal }) => {
    const last = request.turns.at(-1);
    if (hangs === 'model')
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    if (last?.role === 'tool') return `The tool said ${last.text}`;
    const input = { orderId: 42, note: last?.text ?? '' };
    return { text: last?.text ?? '', toolCalls: [{ toolName: 'refund', input }] };
  });
  return defineAgent({ name: 'support', instructions: 'Help.', tools: [refund], model });
}
