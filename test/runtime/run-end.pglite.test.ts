import { expect, test } from 'vitest';
import type { ScriptedStep } from '../../adapters/models/scripted.ts';
import { FaultPlan } from '../../testing/faults/fault-plan.ts';
import { onPglite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../support/runtime-script.ts';

const never = looseTool('never', () => new Promise(() => undefined), { effect: 'nonRepeatable', timeoutMs: 700 });
const fails: ScriptedStep = () => {
  throw new Error('overloaded');
};

onPglite((database) => {
  test.each<[string, ScriptedStep, string]>([
    ['a reply', eachRun({ toolCalls: [call('unknown')] }, 'done'), 'IDLE'],
    ['a person is asked', eachRun({ toolCalls: [call('never', { n: 1 })] }), 'AWAITING_INPUT'],
    ['a limit', () => ({ toolCalls: [call('unknown')] }), 'FAILED'],
    ['a model that fails', fails, 'FAILED'],
  ])(
    'a run that ends with %s has the same result from its last commit and from its rows',
    async (_end, step, state) => {
      const agent = scriptedAgent(step, [never]);
      const limits = { maxModelCallsPerRun: 2 };
      const runtime = await openRuntime(database(), [agent], { limits });
      const session = await openSession(runtime, agent);
      const result = await (await session.send('go', { messageId: 'one' })).result();
      const other = await (await openRuntime(database(), [agent], { limits })).session(session);
      const repeat = await other.send('go', { messageId: 'one' });
      expect(repeat.repeated).toBe(true);
      expect(await repeat.result()).toEqual(result);
      expect(result.state).toBe(state);
    },
  );

  test('a run that is cancelled has the same result for its sender and from its rows', async () => {
    const { opened, open } = gate();
    const agent = scriptedAgent(async () => {
      open();
      return new Promise<string>(() => undefined);
    });
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const run = await session.send('go', { messageId: 'one' });
    await opened;
    await session.cancel();
    const result = await run.result();
    expect(result).toMatchObject({ state: 'IDLE', reply: null, error: { code: 'RUN_CANCELLED' } });
    expect(await (await session.send('go', { messageId: 'one' })).result()).toEqual(result);
  });

  test('the result of a run that was driven here sends nothing after its last commit', async () => {
    const plan = new FaultPlan();
    const agent = scriptedAgent(eachRun('done'));
    const session = await openSession(await openRuntime(database(), [agent], { environment: plan }), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ reply: 'done' });
    const statements = plan.passages.filter(({ point }) => point === 'afterStatement');
    expect(statements.at(-1)?.statement).toMatch(/^update "turnlock"."agent_sessions"/);
    expect(plan.passages.at(-1)?.point).toBe('afterCommit');
  });
});
