import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Environment, type FaultPoint, systemEnvironment } from '../../environment.ts';
import { defineAgent, defineTool, type Session } from '../../index.ts';
import { FaultPlan } from '../../testing/faults/fault-plan.ts';
import { STORED_VALUES } from '../support/odd-values.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

/** What a run costs, and what is not done while a transaction is open. */
export const describeCosts: RuntimeSuite = (database) => {
  /** The statements of one more run, as they were sent, in order. */
  async function statementsOf(session: Session, plan: FaultPlan, text: string): Promise<string[]> {
    const before = plan.passages.length;
    await (await session.send(text)).result();
    const passages = plan.passages.slice(before);
    return passages.flatMap(({ point, statement }) => (point === 'afterStatement' && statement ? [statement] : []));
  }

  test('a run with one tool call opens four transactions that write, and each statement of them is known', async () => {
    const plan = new FaultPlan();
    const agent = scriptedAgent(eachRun({ toolCalls: [call('act')] }, 'done'), [looseTool('act', () => 1)]);
    const session = await openSession(await openRuntime(database(), [agent], { environment: plan }), agent);
    const statements = await statementsOf(session, plan, 'go');
    const writes = statements.filter((statement) => /^(insert|update|delete)/.test(statement));
    expect(writes.filter((statement) => statement.includes('"agent_transitions"'))).toHaveLength(4);
    expect(writes.filter((statement) => statement.startsWith('update "turnlock"."agent_sessions"'))).toHaveLength(4);
    expect(writes.filter((statement) => statement.includes('"agent_tool_executions"'))).toHaveLength(2);
    expect(statements.length).toBeLessThanOrEqual(50);
  });

  test('C37 what was read and is flushed idle sends no UPDATE, also with odd values in JSON', async () => {
    const odd = STORED_VALUES.map((value) => value.make());
    const callsOf = (from: number, to?: number) => odd.slice(from, to).map((value, n) => call('echo', { n, value }));
    const limits = { maxMetadataBytes: 1024 * 1024 };
    const plan = new FaultPlan();
    const echo = looseTool('echo', ({ value }) => value);
    const usage = { inputTokens: 1 };
    const script = eachRun({ toolCalls: callsOf(0, 50), usage }, { toolCalls: callsOf(50), usage }, 'done');
    const agent = scriptedAgent(script, [echo]);
    const runtime = await openRuntime(database(), [agent], { limits });
    const session = await openSession(runtime, agent, { metadata: { odd } });
    await (await session.send('go', { metadata: { odd } })).result();
    const { allEntities } = await import('../../persistence/entities/all-entities.ts');
    const { resolveLimits } = await import('../../limits.ts');
    const opened = await database().adapter().connect({ environment: plan, limits: resolveLimits() });
    try {
      const em = opened.orm.em.fork();
      let rows = 0;
      for (const entity of allEntities) rows += (await em.find(entity as never, {})).length;
      expect(rows).toBeGreaterThan(odd.length * 2);
      const before = plan.passages.length;
      await em.flush();
      const sent = plan.passages.slice(before).map(({ statement }) => statement);
      expect(sent.filter((statement) => /update|insert|delete/i.test(statement ?? ''))).toEqual([]);
    } finally {
      await opened.close();
    }
  });

  test('C52 nothing but SQL is awaited inside a transaction: no model, no tool, no validator, no timer', async () => {
    let open = 0;
    const seen: string[] = [];
    const inside: string[] = [];
    const note = (what: string) => {
      seen.push(what);
      if (open > 0) inside.push(what);
    };
    const environment: Environment = {
      ...systemEnvironment,
      sleep: (ms, signal) => {
        note('timer');
        return systemEnvironment.sleep(ms, signal);
      },
      faultPoint: (point: FaultPoint) => {
        if (point === 'beforeBegin') open += 1;
        if (point === 'afterCommit') open -= 1;
      },
    };
    const validated = z.looseObject({}).refine(async () => {
      note('validator');
      await systemEnvironment.sleep(0);
      note('validator');
      return true;
    });
    const act = defineTool({
      name: 'act',
      description: 'Acts.',
      inputSchema: validated,
      execute: async () => {
        note('tool');
        await systemEnvironment.sleep(0);
        note('tool');
        return 'x';
      },
    });
    const script = eachRun({ toolCalls: [call('act', { n: 1 })] }, { toolCalls: [call('act', { n: 2 })] }, 'done');
    const model = {
      modelId: 'noting',
      generate: async (request: Parameters<typeof script>[0]) => {
        note('model');
        await systemEnvironment.sleep(0);
        note('model');
        const answer = script(request);
        return typeof answer === 'string' ? { text: answer } : answer;
      },
    };
    const name = scriptedAgent('x').name;
    const agent = defineAgent({ name, model, instructions: 'Do it.', tools: [act] });
    const session = await openSession(await openRuntime(database(), [agent], { environment }), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(new Set(seen)).toEqual(new Set(['model', 'tool', 'validator', 'timer']));
    expect(inside).toEqual([]);
    expect(open).toBe(0);
  });
};
