import { type Agent, type ModelResponse, type Tool, type ToolEffect, TurnlockError } from '../../../index.ts';
import { scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import type { ScriptedCall, Wish } from './step.ts';

/** What happened outside the database, and the gates at which tools and models wait. Shared by all processes. */
export class CrowdWorld {
  /** How often the tool acted for each execution. */
  readonly acts = new Map<string, number>();
  /** Executions that returned something to a process. */
  readonly returned = new Set<string>();
  /** Executions that may not act twice unless a person says so. */
  readonly delicate = new Set<string>();
  /** How often a person asked for an execution to run again. */
  readonly again = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  #isOpen = false;

  count(counts: Map<string, number>, executionId: string): void {
    counts.set(executionId, (counts.get(executionId) ?? 0) + 1);
  }

  /** Waits at a gate until it is opened; rejects when `signal` aborts first. */
  async hold(signal: AbortSignal | null): Promise<void> {
    if (this.#isOpen) return;
    const { opened, open } = gate();
    this.#waiting.push(open);
    if (signal === null) return opened;
    await Promise.race([
      opened,
      new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
    ]);
  }

  release(all: boolean): void {
    for (const open of this.#waiting.splice(0, all ? this.#waiting.length : 1)) open();
  }

  /** From now on nothing waits any more, and no model is broken. */
  calm(): void {
    this.#isOpen = true;
    this.release(true);
  }

  get isCalm(): boolean {
    return this.#isOpen;
  }
}

/** The agent that every process of the crowd knows; each session has a world of its own. */
export function crowdAgent(worldOf: (sessionId: string) => CrowdWorld): Agent {
  const tool = (name: ScriptedCall['tool'], more: { effect: ToolEffect; timeoutMs?: number }): Tool =>
    looseTool(
      name,
      async ({ held, deaf, fails }, { executionId, sessionId, signal }) => {
        const world = worldOf(sessionId);
        world.count(world.acts, executionId);
        if (more.effect === 'nonRepeatable') world.delicate.add(executionId);
        if (held) await world.hold(deaf ? null : signal);
        if (fails) throw new Error('out of order');
        world.returned.add(executionId);
        return { acted: executionId };
      },
      more,
    );
  const tools = [
    tool('charge', { effect: 'nonRepeatable' }),
    tool('note', { effect: 'idempotent' }),
    tool('brief', { effect: 'nonRepeatable', timeoutMs: 30 }),
  ];
  return scriptedAgent(async (request, { signal }): Promise<string | ModelResponse> => {
    const world = worldOf(request.sessionId);
    const { text } = request.turns.findLast(({ role }) => role === 'user')!;
    const { calls, model } = (JSON.parse(text) as { wish: Wish }).wish;
    if (model === 'held') await world.hold(signal);
    if (model === 'broken' && !world.isCalm) {
      throw new TurnlockError('MODEL_FAILED', { message: 'the model is broken', retryable: false });
    }
    if (calls.length === 0) return 'done';
    return eachRun({ toolCalls: calls.map(({ tool, ...rest }, n) => call(tool, { n, ...rest })) }, 'done')(request);
  }, tools);
}
