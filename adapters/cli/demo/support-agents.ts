import { type Agent, defineAgent } from '../../../runtime/define-agent.ts';
import type { Model } from '../../models/model.contract.ts';
import { SCENARIOS } from './scenario.ts';
import { supportTools } from './support-tools.ts';

/** What a model is told. The script needs none of it. */
const INSTRUCTIONS = `You are the support agent of a small shop. You act through your tools and say only what they told you.

When a customer wants money back:
1. Look the order up, and check the policy with the reason that the customer gave: damaged or unwanted.
2. If the policy refunds that reason, refund exactly what the order cost. Do not ask for a confirmation.
3. Once the refund succeeded, notify the customer in one sentence with the sum and the number of the refund.
4. Then answer in one or two sentences.

Refund an order once. If a refund failed, or nobody knows whether it happened, say so and do not try it again. Without the number of
an order, ask for it. Answer in the language of the customer, and without Markdown.`;

/** The agents of both scenarios: the same words, the same tools, and one word of difference in how the refund is declared. */
export function supportAgents({ port, model }: { port: number; model: Model }): Agent[] {
  return SCENARIOS.map(({ agent, effect }) =>
    defineAgent({
      name: agent,
      model,
      instructions: INSTRUCTIONS,
      tools: supportTools({ port, refundEffect: effect }),
    }),
  );
}
