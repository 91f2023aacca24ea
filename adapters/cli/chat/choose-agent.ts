import { TurnlockError } from '../../../errors.ts';
import type { Limits } from '../../../limits.ts';
import type { Agent } from '../../../runtime/define-agent.ts';
import { DEMO_LIMITS } from '../demo/demo-setup.ts';
import { SCENARIOS } from '../demo/scenario.ts';
import { startPayments } from '../demo/start-payments.ts';
import { supportAgents } from '../demo/support-agents.ts';
import { chooseModel } from '../models/choose-model.ts';
import { loadModel } from '../models/load-model.ts';
import { PROVIDER_NAMES } from '../models/providers.ts';
import type { Settings } from '../read-settings.ts';
import type { ChatOptions } from './chat-options.ts';
import { loadAgents, pickAgent } from './load-agents.ts';
import { typingModel } from './typing-model.ts';

/** The agent to talk to, with what it needs. */
export interface ChosenAgent extends AsyncDisposable {
  readonly agent: Agent;
  /** For the screen: which model answers, and why that one. */
  readonly modelText: string;
  /** Bounds that differ from the configuration's and from the defaults. */
  readonly limits: Partial<Limits>;
}

/** The demonstration's agent where none is named: its refund may be repeated. */
const DEMO_AGENT = 'support';

/** How long the payments service takes to answer to a refund: long enough to see it, and to be killed in. */
const REFUND_MS = 800;

/**
 * The agent of `--agent`, else of the configuration, else the demonstration's, whose payments service is started and keeps `ledgerFile`.
 *
 * @throws CONFIG_INVALID when there is none of that name, or its model cannot be had. OPTIONS_INVALID for `--model` beside an agent that
 * brings its own.
 */
export async function chooseAgent(options: ChatOptions, settings: Settings, ledgerFile: string): Promise<ChosenAgent> {
  if (options.agent !== undefined) {
    refuseModel(options, options.agent);
    return own(pickAgent(await loadAgents(options.agent), options.name, options.agent));
  }
  if (settings.agents !== undefined && settings.agents.length > 0) {
    refuseModel(options, 'the configuration');
    return own(pickAgent(settings.agents, options.name, 'the configuration'));
  }
  return demoAgent(options, ledgerFile);
}

function own(agent: Agent): ChosenAgent {
  return { agent, modelText: agent.model.modelId, limits: {}, async [Symbol.asyncDispose]() {} };
}

async function demoAgent({ name = DEMO_AGENT, model: asked }: ChatOptions, ledgerFile: string): Promise<ChosenAgent> {
  const { agent: picked } = pickAgent(
    SCENARIOS.map((scenario) => ({ ...scenario, name: scenario.agent })),
    name,
    'the demonstration',
  );
  const choice = chooseModel(asked, process.env);
  const isScripted = choice.provider === 'scripted';
  const model = isScripted ? typingModel() : await loadModel(choice);
  const modelText = isScripted
    ? `a script${asked === undefined ? ` (no key is set; --model ${PROVIDER_NAMES.join(' or ')} takes a real model)` : ''}`
    : `${choice.provider}/${choice.modelId}`;
  const payments = startPayments();
  try {
    const { port } = await payments.ask('open', { ledgerFile, refundMs: REFUND_MS });
    const agent = pickAgent(supportAgents({ port, model }), picked, 'the demonstration');
    return { agent, modelText, limits: DEMO_LIMITS, [Symbol.asyncDispose]: () => payments.kill() };
  } catch (error) {
    await payments.kill();
    throw error;
  }
}

function refuseModel({ model }: ChatOptions, place: string): void {
  if (model === undefined) return;
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `--model not accepted: ${model} (found an agent of ${place}, which brings its own model)`,
    hint: 'Leave --model out, or change the model where the agent is defined.',
  });
}
