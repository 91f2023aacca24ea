import { scripted } from '../../../../adapters/models/scripted.ts';
import { defineTool, type InputSchema, type Model, type Tool } from '../../../../index.ts';
import { call } from '../../../support/runtime-script.ts';

/** What an act leaves behind in the world. */
export interface Ordered {
  build: number;
  sessionId: string;
  params: unknown;
  key: string;
}

/** What is beside a build: the world, and time in which it may be stopped. */
export interface Doing {
  act(ordered: Ordered): void;
  pause(): Promise<unknown>;
}

/** How many orders a message asks for. */
export const ORDERS = 3;

/** Orders something; the same key again is the same order. */
export function orderTool(inputSchema: InputSchema, { act, pause, build }: Doing & { build: number }): Tool {
  return defineTool({
    name: 'order',
    description: 'Orders something.',
    inputSchema,
    effect: 'idempotent',
    execute: async (params, { sessionId, idempotencyKey: key }) => {
      await pause();
      act({ build, sessionId, params, key });
      return 'ordered';
    },
  });
}

/** Asks for three orders for each message `order N`, then says so. */
export function ordersModel(toParams: (order: number) => unknown): Model {
  return scripted(({ turns }) => {
    const place = turns.findLastIndex((turn) => turn.role === 'user');
    const text = turns[place]?.text ?? '';
    if (turns.length > place + 1) return `done: ${text}`;
    const first = ORDERS * Number(text.replace('order ', ''));
    return { toolCalls: Array.from({ length: ORDERS }, (_, at) => call('order', toParams(first + at))) };
  });
}
