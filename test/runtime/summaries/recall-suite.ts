import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ModelRequest } from '../../../adapters/models/model.contract.ts';
import { type ScriptedStep, scripted } from '../../../adapters/models/scripted.ts';
import { type Agent, defineAgent, defineTool, recallTool, type Tool } from '../../../index.ts';
import type { AgentRecallOptions } from '../../../runtime/context/context-options.ts';
import { FaultPlan } from '../../../testing/faults/fault-plan.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { countTokens } from './summary-scene.ts';

/** An agent that is shown what is recalled. */
function recalling(
  script: ScriptedStep,
  recall: boolean | AgentRecallOptions = true,
  tools: readonly Tool[] = [],
): Agent {
  const name = `agent-${randomUUID().slice(0, 8)}`;
  const context = { maxTokens: 4_000, countTokens };
  return defineAgent({ name, model: scripted(script), instructions: 'Do it.', tools, context, recall });
}

export const describeRecall: RuntimeSuite = (database) => {
  test('what is remembered of the user and fits the message is shown in every call of its run, and the rows say which', async () => {
    const requests: ModelRequest[] = [];
    const script = eachRun({ toolCalls: [call('look')] }, 'done');
    const agent = recalling(
      (request) => {
        requests.push(request);
        return script(request);
      },
      true,
      [looseTool('look', () => 'seen')],
    );
    const runtime = await openRuntime(database(), [agent]);
    const userId = randomUUID();
    const mine = runtime.memory({ tenantId: 'tenant', userId });
    const { memoryId } = await mine.remember({ kind: 'preference', content: 'Drinks green tea in the morning.' });
    await mine.remember({ kind: 'fact', content: 'Owns a bicycle.' });
    await runtime
      .memory({ tenantId: 'tenant', userId: randomUUID() })
      .remember({ kind: 'fact', content: 'Tea of another user.' });
    const session = await openSession(runtime, agent, { userId });
    expect(await (await session.send('Which tea shall I buy?')).result()).toMatchObject({ state: 'IDLE' });
    expect(requests).toHaveLength(2);
    for (const { instructions } of requests) {
      expect(instructions).toMatch(/^Do it\.\n\nWhat stands between <memories>/);
      expect(instructions).toMatch(
        /<memory kind="preference" noted="[0-9-]{10}">Drinks green tea in the morning\.<\/memory>/,
      );
      expect(instructions).not.toContain('another user');
    }
    const rows = await database().query('SELECT memories FROM turnlock.agent_model_calls WHERE session_id = $1', [
      session.sessionId,
    ]);
    const shown = { memoryId, kind: 'preference', why: 'recalled', score: expect.any(Number) };
    for (const row of rows) expect(row.memories).toContainEqual(shown);
    expect((await session.verify()).findings).toEqual([]);
  });

  test('no more is recalled than its options allow: kinds, number and tokens', async () => {
    const requests: ModelRequest[] = [];
    const agentOf = (recall: AgentRecallOptions) =>
      recalling((request) => {
        requests.push(request);
        return 'done';
      }, recall);
    const agents = [agentOf({ kinds: ['fact'] }), agentOf({ limit: 2 }), agentOf({ maxTokens: 240 })];
    const runtime = await openRuntime(database(), agents);
    const userId = randomUUID();
    const memory = runtime.memory({ tenantId: 'tenant', userId });
    for (const kind of ['fact', 'preference', 'episode'] as const) {
      for (const n of [1, 2]) await memory.remember({ kind, content: `apple ${kind} ${n} ${'x'.repeat(100)}` });
    }
    const found: string[][] = [];
    for (const agent of agents) {
      await (await (await openSession(runtime, agent, { userId })).send('apple')).result();
      found.push(
        [...(requests.at(-1)?.instructions ?? '').matchAll(/<memory kind="(\w+)"/g)].map(([, kind = '']) => kind),
      );
    }
    expect(found[0]).toEqual(['fact', 'fact']);
    expect(found[1]).toHaveLength(2);
    expect(found[2]?.length).toBeGreaterThan(0);
    expect(found[2]?.length).toBeLessThan(6);
  });

  test('a recall that fails is a warning, and its run goes on without', async () => {
    const requests: ModelRequest[] = [];
    const agent = recalling((request) => {
      requests.push(request);
      return 'done';
    });
    const isRecall = ({ statement }: { statement?: string }) =>
      statement?.includes('turnlock.agent_memories m') === true && !statement.includes('covers_to_turn');
    const environment = new FaultPlan([
      {
        point: 'afterStatement',
        where: isRecall,
        fault: () => {
          throw new TypeError('secret');
        },
      },
    ]);
    const warnings: { code: string; message: string }[] = [];
    const onWarning = (warning: { code: string; message: string }) => void warnings.push(warning);
    const runtime = await openRuntime(database(), [agent], { environment, onWarning });
    const session = await openSession(runtime, agent, { userId: randomUUID() });
    expect(await (await session.send('apple')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(requests[0]?.instructions).toBe('Do it.');
    expect(warnings.map(({ code }) => code)).toContain('RECALL_FAILED');
    expect(JSON.stringify(warnings)).not.toContain('apple');
  });

  test('a model looks up by a tool what is remembered of its user, and of nobody else', async () => {
    const agent = scriptedAgent(eachRun({ toolCalls: [call('recall', { query: 'apple' })] }, 'done'), [
      recallTool({ kinds: ['fact'] }),
    ]);
    const runtime = await openRuntime(database(), [agent]);
    const userId = randomUUID();
    const mine = runtime.memory({ tenantId: 'tenant', userId });
    await mine.remember({ kind: 'fact', content: 'An apple a day.' });
    await mine.remember({ kind: 'preference', content: 'Likes apple pie.' });
    await runtime
      .memory({ tenantId: 'tenant', userId: randomUUID() })
      .remember({ kind: 'fact', content: 'apple of another' });
    const session = await openSession(runtime, agent, { userId });
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE' });
    const output = JSON.parse((await session.history())[2]?.content ?? '');
    expect(output).toEqual([{ kind: 'fact', content: 'An apple a day.', notedAt: expect.any(String) }]);
  });

  test('a transactional tool cannot recall, as it would wait for itself: it has failed, and the session goes on', async () => {
    let thrown: unknown;
    const tool = defineTool({
      name: 'note',
      description: 'Notes.',
      effect: 'transactional',
      inputSchema: z.object({}),
      execute: async (_params, { memory }) => {
        await memory.recall({ query: 'apple' }).catch((error: unknown) => {
          thrown = error;
          throw error;
        });
      },
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('note')] }, 'done'), [tool]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(thrown).toMatchObject({ code: 'TRANSACTION_REENTRANT' });
  });

  test.each([
    ['a number of them that is none', { query: 'x', limit: 0 }],
    ['a kind that is none', { query: 'x', kinds: ['rumour'] }],
    ['an option that is none', { query: 'x', userId: 'another' }],
  ])('a tool that recalls with %s is refused', async (_, query) => {
    let thrown: unknown;
    const tool = looseTool('look', async (_params, { memory }) => {
      thrown = await memory.recall(query as never).catch((error: unknown) => error);
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('look')] }, 'done'), [tool]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE' });
    expect(thrown).toMatchObject({ code: 'OPTIONS_INVALID' });
  });
};
