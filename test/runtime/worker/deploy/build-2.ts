import { z } from 'zod';
import { type Agent, defineAgent, versioned } from '../../../../index.ts';
import { V1 } from './build-1.ts';
import { type Doing, ordersModel, orderTool } from './order-tool.ts';

/** The build that comes: version 2 of the agent, and of its tool, whose params have another form. */
export function build(doing: Doing): Agent {
  const input = versioned(V1).to(z.object({ orderId: z.string() }), ({ order }) => ({ orderId: `A-${order}` }));
  return defineAgent({
    name: 'clerk',
    version: 2,
    instructions: 'Order what is asked for, by its id.',
    model: ordersModel((order) => ({ orderId: `A-${order}` })),
    tools: [orderTool(input, { ...doing, build: 2 })],
  });
}
