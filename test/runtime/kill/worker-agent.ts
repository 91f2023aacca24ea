import { createAnthropic } from '@ai-sdk/anthropic';
import { aiSdk } from '../../../adapters/models/ai-sdk.ts';
import { scripted } from '../../../adapters/models/scripted.ts';
import { type Agent, defineAgent, type Limits, type Model } from '../../../index.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';

/** What a worker process is told. */
export interface WorkerTask {
  database: { url: string } | { directory: string };
  /** File to which every act appends a line. */
  ledger: string;
  /** The message that it sends to each session, by external id; `null`: the session is only created. */
  sessions: { [externalId: string]: string | null };
  /** Where a provider listens that speaks Anthropic's wire format; absent: the model is scripted. */
  anthropicUrl?: string;
  /** Whether it first sweeps until it finds a session that another process left. */
  recovers?: boolean;
  /** Where it stops: `beforeAct`, `afterAct`, `asking`, or a fault point with ` of tool`, ` of creation` or ` of record`. */
  stopAt?: string;
  /** At which passage of that place, from 1 on. Default 1. */
  occurrence?: number;
  /** Whether it goes on from there once it hears `goOn`. */
  waits?: boolean;
  limits?: Partial<Limits>;
}

/** What an act leaves behind in the world. */
export interface Act {
  tool: string;
  key: string;
  n: unknown;
  attempt: number;
}

/** Bounds of every process here: a dead one is noticed within a second. */
export const KILL_LIMITS: Partial<Limits> = { leaseMs: 1_000, heartbeatMs: 300, graceMs: 50, toolTimeoutMs: 1_000 };

/** How an agent reaches the world around it. */
export interface Surroundings {
  anthropicUrl?: string | undefined;
  act(line: Act): void;
  stopAt(place: string): Promise<void>;
}

function thinkingModel(baseURL: string): Model {
  const thinking = { type: 'enabled', budgetTokens: 1_024 };
  const model = createAnthropic({ baseURL, apiKey: 'x' })('claude-x');
  return aiSdk(model, { providerOptions: { anthropic: { thinking } }, maxOutputTokens: 4_096 });
}

/**
 * The agent of every process here. A message is a list of calls, `note 1, charge 2`; `and on and on` asks for a note again and again.
 */
export function workerAgent({ act, stopAt, anthropicUrl }: Surroundings): Agent {
  const tool = (name: string, effect: 'idempotent' | 'nonRepeatable') =>
    looseTool(
      name,
      async ({ n }, { idempotencyKey: key, attempt }) => {
        await stopAt('beforeAct');
        act({ tool: name, key, n, attempt });
        await stopAt('afterAct');
        return `${name} ${n}`;
      },
      { effect },
    );
  const model = scripted(async (request) => {
    await stopAt('asking');
    const { turns } = request;
    const { text } = turns.findLast(({ role }) => role === 'user')!;
    if (text === 'and on and on') return { toolCalls: [call('note', { n: turns.length })] };
    if (!/^(note|charge) /.test(text)) return `heard ${text}`;
    const toolCalls = text.split(', ').map((words) => {
      const [name = '', n] = words.split(' ');
      return call(name, { n: Number(n) });
    });
    return eachRun({ toolCalls }, `did ${text}`)(request);
  });
  return defineAgent({
    name: 'worker',
    model: anthropicUrl === undefined ? model : thinkingModel(anthropicUrl),
    instructions: 'Do it.',
    tools: [tool('note', 'idempotent'), tool('charge', 'nonRepeatable')],
  });
}
