import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../adapters/models/model.contract.ts';
import { type ScriptedStep, scripted } from '../../../adapters/models/scripted.ts';
import { type Agent, defineAgent, type Tool } from '../../../index.ts';
import type { ContextOptions } from '../../../runtime/context/context-options.ts';
import { turnText } from '../../../runtime/context/turn-text.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { countTokens, isSummaryRequest } from '../summaries/summary-scene.ts';

export function budgeted(script: ScriptedStep, context: ContextOptions, tools: readonly Tool[] = []): Agent {
  const name = `agent-${randomUUID().slice(0, 8)}`;
  const model = scripted((request, given) => {
    if (isSummaryRequest(request)) return 'notes';
    return typeof script === 'function' ? script(request, given) : script;
  });
  return defineAgent({ name, model, instructions: 'Do it.', tools, context: { countTokens, ...context } });
}

/** What of a request a provider would count. */
export function sizeOf({ instructions, turns, tools }: ModelRequest): number {
  const texts = [instructions, ...turns.map(turnText), ...tools.map((tool) => JSON.stringify(tool))];
  return texts.reduce((sum, text) => sum + countTokens(text), 0);
}

/** Why a provider would refuse the turns; `null` where none would. */
export function whyRefused({ turns }: ModelRequest): string | null {
  if (turns[0]?.role !== 'user') return `begins with ${turns[0]?.role}`;
  for (const [at, { role, parts, turnIndex }] of turns.entries()) {
    const calls = parts.filter((part) => part.type === 'toolCall').length;
    const answers = turns.slice(at + 1, at + 1 + calls).filter((turn) => turn.role === 'tool').length;
    if (calls !== answers) return `turn ${turnIndex} has ${calls} calls and ${answers} results`;
    if (role === 'tool' && turns[at - 1]?.role !== 'tool' && turns[at - 1]?.role !== 'assistant')
      return 'a lone result';
  }
  return null;
}

export const describeBudget: RuntimeSuite = (database) => {
  test('what a model is given stays within the budget and valid however long the session is, and the row says what it was', async () => {
    const requests: ModelRequest[] = [];
    const look = looseTool('look', ({ n }) => `found ${n}: ${'y'.repeat(100)}`);
    const script = eachRun({ toolCalls: [call('look', { n: 1 }), call('look', { n: 2 })] }, `done ${'z'.repeat(40)}`);
    const agent = budgeted(
      (request) => {
        requests.push(request);
        return script(request);
      },
      { maxTokens: 700 },
      [look],
    );
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    for (let turn = 0; turn < 12; turn += 1) {
      const text = `message ${turn} ${'x'.repeat(turn * 10)}`;
      const { state } = await (await session.send(text)).result();
      expect(state).toBe('IDLE');
      expect(
        requests
          .at(-1)
          ?.turns.filter(({ role }) => role === 'user')
          .at(-1)?.text,
      ).toBe(text);
    }
    expect(requests).toHaveLength(24);
    for (const request of requests) {
      expect(sizeOf(request)).toBeLessThanOrEqual(700);
      expect(whyRefused(request)).toBeNull();
    }
    const last = requests.at(-1) as ModelRequest;
    expect(last.turns.length).toBeGreaterThan(2);
    expect(last.turns[0]?.turnIndex).toBeGreaterThan(0);
    const [row] = await database().query(
      'SELECT window_from, window_to FROM turnlock.agent_model_calls WHERE session_id = $1 ORDER BY started_at DESC, window_to DESC LIMIT 1',
      [session.sessionId],
    );
    const shown = last.turns.map(({ turnIndex }) => turnIndex);
    const afterHole = shown.find((turnIndex, at) => at > 0 && turnIndex !== (shown[at - 1] as number) + 1);
    expect(row).toEqual({ window_from: afterHole ?? shown[0], window_to: shown.at(-1) });
    const { findings } = await runtime.doctor({ tenantId: 'tenant', sessionId: session.sessionId });
    expect(findings.filter((finding) => finding.sessionId !== null)).toEqual([]);
  });

  test('a run that alone has more than the budget is given its message and its newest rounds', async () => {
    const requests: ModelRequest[] = [];
    const look = looseTool('look', ({ n }) => `found ${n}: ${'y'.repeat(400)}`);
    const rounds = Array.from({ length: 8 }, (_, n) => ({ toolCalls: [call('look', { n })] }));
    const agent = budgeted(
      (request) => {
        requests.push(request);
        const { turns } = request;
        const seen = (turns.at(-1)?.turnIndex ?? 0) / 2;
        return rounds[seen] ?? 'done';
      },
      { maxTokens: 500 },
      [look],
    );
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const { reply } = await (await session.send('find them all')).result();
    expect(reply).toBe('done');
    expect(requests).toHaveLength(9);
    for (const request of requests) {
      expect(sizeOf(request)).toBeLessThanOrEqual(500);
      expect(whyRefused(request)).toBeNull();
      expect(request.turns[0]?.text).toBe('find them all');
    }
    const shown = requests.at(-1)?.turns.map(({ turnIndex }) => turnIndex) ?? [];
    expect(shown.slice(0, 2)).toEqual([0, shown[1] as number]);
    expect(shown[1]).toBeGreaterThan(2);
    expect(shown.at(-1)).toBe(16);
  });

  test('a message that has more than the budget is given all the same, alone', async () => {
    const requests: ModelRequest[] = [];
    const agent = budgeted(
      (request) => {
        requests.push(request);
        return 'done';
      },
      { maxTokens: 200 },
    );
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await (await session.send('short')).result();
    const { reply } = await (await session.send('long '.repeat(400))).result();
    expect(reply).toBe('done');
    expect(requests.at(-1)?.turns).toMatchObject([{ role: 'user', text: 'long '.repeat(400) }]);
  });

  test('a count that does not count fails the run, and names the agent and no content', async () => {
    const agent = budgeted(() => 'never', { maxTokens: 200, countTokens: () => Number.NaN });
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const { state, error } = await (await session.send('secret')).result();
    expect(state).toBe('FAILED');
    expect(error).toMatchObject({ code: 'DEFINITION_INVALID' });
    expect(error?.message).not.toContain('secret');
  });
};
