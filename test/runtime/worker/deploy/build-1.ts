import { z } from 'zod';
import { type Agent, defineAgent } from '../../../../index.ts';
import { type Doing, ordersModel, orderTool } from './order-tool.ts';

/** What `order` takes in the build that is replaced. */
export const V1 = z.object({ order: z.number() });

/** The build that is replaced: version 1 of the agent, and of its tool. */
export function build(doing: Doing): Agent {
  return defineAgent({
    name: 'clerk',
    version: 1,
    instructions: 'Order what is asked for.',
    model: ordersModel((order) => ({ order })),
    tools: [orderTool(V1, { ...doing, build: 1 })],
  });
}
