import { z } from 'zod';
import {
  type Agent,
  allow,
  defineTool,
  deny,
  type Policy,
  requireApproval,
  type Session,
  type ToolDefinition,
  ToolError,
} from '../../../index.ts';
import { scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate } from '../../support/runtime-script.ts';

/** What the tool does for one session. */
export type Behaviour = 'succeeds' | 'fails' | 'loses its answer' | 'hangs' | 'hangs deafly';

/** What the policy says in one session. */
export type Judgement = 'allow' | 'ask' | 'ask, then deny';

/** Where refunds happen: one per order and tenant, whoever asks for it. */
export interface RefundWorld {
  agent: Agent;
  /** What was done, by whom and with which claim. */
  acts: { sessionId: string; order: string; generation: number | undefined }[];
  /** How a session's calls go; from `succeeds` and `allow`. */
  behaves: Map<string, Behaviour>;
  judges: Map<string, Judgement>;
  /** Lets a call go on that hangs. */
  open(): void;
}

const input = z.object({ order: z.string(), cents: z.int().default(100) });

/** An agent that refunds the orders that a message names, one per order. `12=5` names other cents. */
export function refundWorld(once: Partial<NonNullable<ToolDefinition<typeof input>['once']>> = {}): RefundWorld {
  const acts: RefundWorld['acts'] = [];
  const behaves: RefundWorld['behaves'] = new Map();
  const judges: RefundWorld['judges'] = new Map();
  const { opened, open } = gate();
  const policy: Policy = (_, { sessionId, isStart }) => {
    const judgement = judges.get(sessionId) ?? 'allow';
    if (judgement === 'allow') return allow();
    return judgement !== 'ask' && isStart ? deny('Closed by now') : requireApproval({ expiresInMs: 60_000 });
  };
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    inputSchema: input,
    effect: 'nonRepeatable',
    timeoutMs: 60_000,
    once: { per: 'tenant', key: ({ order }) => order, ...once },
    policy,
    execute: async ({ order }, { sessionId, claim, signal }) => {
      acts.push({ sessionId, order, generation: claim?.generation });
      const behaviour = behaves.get(sessionId) ?? 'succeeds';
      if (behaviour === 'fails') throw new Error('the bank refused');
      if (behaviour === 'loses its answer') throw new ToolError('the line broke', { outcome: 'unknown' });
      const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      aborted.catch(() => undefined);
      if (behaviour === 'hangs deafly') await opened;
      if (behaviour === 'hangs') await Promise.race([opened, aborted]);
      return { refunded: order };
    },
  });
  const agent = scriptedAgent(
    (request) => {
      const { text } = request.turns.findLast(({ role }) => role === 'user')!;
      const toolCalls = text.split(' ').map((word) => {
        const [order, cents] = word.split('=');
        return call('refund', { order, ...(cents === undefined ? {} : { cents: Number(cents) }) });
      });
      return eachRun({ toolCalls }, 'done')(request);
    },
    [refund],
  );
  return { agent, acts, behaves, judges, open };
}

/** What the model was told of the calls of a session. */
export async function answersOf(session: Session): Promise<string[]> {
  return (await session.history()).filter(({ role }) => role === 'tool').map(({ content }) => content);
}
