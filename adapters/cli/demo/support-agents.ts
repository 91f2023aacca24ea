import { type Agent, defineAgent } from '../../../runtime/define-agent.ts';
import { scripted } from '../../models/scripted.ts';
import { SCENARIOS } from './scenario.ts';
import { supportScript } from './support-script.ts';
import { supportTools } from './support-tools.ts';

/** The agents of both scenarios: the same words, the same tools, and one word of difference in how the refund is declared. */
export function supportAgents(port: number): Agent[] {
  return SCENARIOS.map(({ agent, effect }) =>
    defineAgent({
      name: agent,
      model: scripted(supportScript, { modelId: 'scripted-support' }),
      instructions: 'Help customers. Refund what arrived damaged.',
      tools: supportTools({ port, refundEffect: effect }),
    }),
  );
}
