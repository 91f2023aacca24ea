import { setImmediate as tick } from 'node:timers/promises';
import type { ModelRequest, ModelResponse } from '../../../adapters/models/model.contract.ts';
import { type Agent, defineAgent } from '../../../index.ts';
import type { FaultPlan } from '../../../testing/faults/fault-plan.ts';
import { looseTool } from '../../support/runtime-script.ts';
import type { Scenario, ScriptedCall } from './scenario.ts';

/** What happened outside the database: the receiver of every act. It outlives the processes. */
export class World {
  readonly #acts = new Map<string, { tool: string; params: string; count: number }>();

  act(key: string, tool: string, params: unknown): void {
    const act = this.#acts.get(key) ?? { tool, params: JSON.stringify(params), count: 0 };
    this.#acts.set(key, { ...act, count: act.count + 1 });
  }

  countOf(key: string): number {
    return this.#acts.get(key)?.count ?? 0;
  }

  /** How often each key of a tool was acted upon. */
  countsOf(tool: string): number[] {
    return [...this.#acts.values()].filter((act) => act.tool === tool).map(({ count }) => count);
  }

  /** Every distinct act by tool and params, sorted: the keys differ from session to session. */
  distinctActs(): string[] {
    return [...this.#acts.values()].map(({ tool, params }) => `${tool} ${params}`).sort();
  }
}

/** What a call that works returns. */
export function outputOf(tool: string, params: unknown): string {
  return `${tool} of ${(params as ScriptedCall).n}`;
}

/** What a call that fails says. */
export function failureOf(tool: string): string {
  return `${tool} is out of order`;
}

/** The tools and the model of one process. What is under way in it stops when its plan lets it die. */
export function mortalAgent(name: string, script: Scenario, world: World, plan: FaultPlan): Agent {
  const act = (tool: string, more: Parameters<typeof looseTool>[2] = {}) =>
    looseTool(
      tool,
      async (params, { idempotencyKey }) => {
        for (let left = Number(params.ticks); left > 0; left -= 1) await tick();
        await plan.alive();
        world.act(idempotencyKey, tool, params);
        await plan.alive();
        if (params.fails) throw new Error(failureOf(tool));
        return outputOf(tool, params);
      },
      more,
    );
  const tools = [
    act('look', { effect: 'readOnly' }),
    act('note'),
    act('each', { repeatable: true }),
    act('charge', { effect: 'nonRepeatable', onRepeat: 'run' }),
  ];
  const model = {
    modelId: 'scripted',
    generate: async (request: ModelRequest) => {
      await plan.alive();
      return answerTo(request, script);
    },
  };
  return defineAgent({ name, model, instructions: 'Do it.', tools });
}

/** The history says which answer is due, not the process. */
function answerTo({ turns, attempt }: ModelRequest, { runs }: Scenario): ModelResponse {
  const run = turns.filter(({ role }) => role === 'user').length - 1;
  const since = turns.slice(turns.findLastIndex(({ role }) => role === 'user'));
  const place = since.filter(({ role }) => role === 'assistant').length;
  const answer = runs[run]?.[place];
  if (answer === undefined) return { text: `reply ${run}` };
  if (answer.stumbles && attempt === 1) throw new Error('overloaded');
  return {
    text: `answer ${run}.${place}`,
    toolCalls: answer.calls.map(({ tool, ...input }) => ({ toolName: tool, input })),
  };
}
