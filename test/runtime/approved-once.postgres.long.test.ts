import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Agent, allow, defineTool, done, type Policy, requireApproval, type ToolEffect } from '../../index.ts';
import { openMortal, recoverLater } from '../support/runtime-crash.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';
import { ask } from './approval-scene.ts';
import { INSERT, makeShop, refundsOf } from './effects/transactional-scene.ts';

/** Anything of a tool, and nothing of a model. */
const isTool = ({ executionId }: { executionId?: string }) => executionId !== undefined;

onPostgres((database) => {
  beforeAll(() => makeShop(database()));

  const roundsOf = (sessionId: string) =>
    database().query(
      `SELECT kind, decision, consumed_at IS NOT NULL AS used FROM turnlock.agent_approvals WHERE session_id = $1 ORDER BY round`,
      [sessionId],
    );

  /** A call is approved, its process dies after the act and before the record, and another process goes on. */
  async function approveAndDie(agent: Agent) {
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'afterEffect', where: isTool, fault: 'crash' }],
    );
    const session = await openSession(runtime, agent);
    const { awaiting } = await (await session.send('refund')).result();
    const { executionId, digest } = awaiting[0]!;
    await session.approve(executionId, { by: 'ann', digest });
    await plan.struck;
    const { runtime: next, recoveries } = await recoverLater(database(), [agent]);
    return { executionId, digest, recoveries, next, session: await next.session(session) };
  }

  describe('C07 approved, acted, died before the record', () => {
    test('nonRepeatable: no ordinary retry runs it again, nor does the same approval; only a person may', async () => {
      const keys: string[] = [];
      const refund = looseTool('refund', (_, { idempotencyKey }) => keys.push(idempotencyKey), {
        effect: 'nonRepeatable',
        policy: ask,
      });
      const agent = scriptedAgent(eachRun({ toolCalls: [call('refund')] }, 'done'), [refund]);
      const { executionId, digest, recoveries, next, session } = await approveAndDie(agent);
      expect(recoveries).toMatchObject([{ state: 'AWAITING_INPUT' }]);
      const again = session.approve(executionId, { by: 'ann', digest });
      await expect(again).rejects.toMatchObject({ code: 'APPROVAL_NOT_ASKED', details: { kind: 'unknown' } });
      expect(await next.recover()).toEqual([]);
      expect(await (await session.resume())!.result()).toMatchObject({ state: 'AWAITING_INPUT' });
      expect(keys).toHaveLength(1);
      expect(await roundsOf(session.sessionId)).toEqual([
        { kind: 'approval', decision: 'granted', used: true },
        { kind: 'unknown', decision: null, used: false },
      ]);
      const run = await session.settle(executionId, { outcome: 'runAgain', by: 'bob' });
      expect(await run.result()).toMatchObject({ state: 'IDLE' });
      expect(keys).toEqual([keys[0], keys[0]]);
    });

    test.each<ToolEffect>(['readOnly', 'idempotent'])(
      '%s: its class lets it run again, with the same key and the one approval',
      async (effect) => {
        const keys: string[] = [];
        const refund = looseTool('refund', (_, { idempotencyKey }) => keys.push(idempotencyKey), {
          effect,
          policy: ask,
        });
        const agent = scriptedAgent(eachRun({ toolCalls: [call('refund')] }, 'done'), [refund]);
        const { recoveries, session } = await approveAndDie(agent);
        expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
        expect(keys).toEqual([keys[0], keys[0]]);
        expect(await roundsOf(session.sessionId)).toEqual([{ kind: 'approval', decision: 'granted', used: true }]);
      },
    );

    test('reconcilable: what was done is found, and does not run again', async () => {
      let acts = 0;
      const refund = defineTool({
        name: 'refund',
        description: 'Refunds.',
        inputSchema: z.looseObject({}),
        effect: 'reconcilable',
        policy: ask,
        execute: () => ++acts,
        reconcile: () => done('found'),
      });
      const agent = scriptedAgent(eachRun({ toolCalls: [call('refund')] }, 'done'), [refund]);
      const { recoveries, session } = await approveAndDie(agent);
      expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
      expect(acts).toBe(1);
      expect(await roundsOf(session.sessionId)).toEqual([{ kind: 'approval', decision: 'granted', used: true }]);
    });

    test('transactional: it runs again, and there is one booking', async () => {
      let acts = 0;
      const book = defineTool({
        name: 'book',
        description: 'Books.',
        inputSchema: z.object({ order: z.string() }),
        effect: 'transactional',
        policy: ask,
        execute: async ({ order }, { transaction, executionId }) => {
          acts += 1;
          await transaction.query(INSERT, [order, executionId]);
        },
      });
      const agent = scriptedAgent(eachRun({ toolCalls: [call('book', { order: 'approved' })] }, 'done'), [book]);
      const isAfterAct = { point: 'beforeCommit', where: () => acts === 1, fault: 'crash' } as const;
      const { runtime, plan } = await openMortal(database(), [agent], [isAfterAct]);
      const session = await openSession(runtime, agent);
      const { awaiting } = await (await session.send('book')).result();
      await session.approve(awaiting[0]!.executionId, { by: 'ann' });
      await plan.struck;
      const { recoveries } = await recoverLater(database(), [agent]);
      expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
      expect([acts, await refundsOf(database(), 'approved')]).toEqual([2, 1]);
      expect(await roundsOf(session.sessionId)).toEqual([{ kind: 'approval', decision: 'granted', used: true }]);
    });
  });

  describe('C09 what ran before a person was asked does not run again', () => {
    /** `note` runs at once; `refund` asks when it is about to start, or at once. */
    function agentThat(policy: Policy, ...answers: { toolCalls: ReturnType<typeof call>[] }[]) {
      const acts: string[] = [];
      const note = looseTool('note', () => void acts.push('note'), { effect: 'nonRepeatable', onRepeat: 'run' });
      const refund = looseTool('refund', () => void acts.push('refund'), { effect: 'nonRepeatable', policy });
      return { acts, agent: scriptedAgent(eachRun(...answers, 'done'), [note, refund]) };
    }

    /** Others look, wait and come back before somebody decides. */
    async function comeBackAndApprove(
      agent: Agent,
      given: { sessionId: string; tenantId: string },
      executionId: string,
    ) {
      for (let process = 0; process < 2; process += 1) {
        const runtime = await openRuntime(database(), [agent]);
        await runtime.recover();
        const seen = await runtime.session(given);
        expect(await (await seen.resume())!.result()).toMatchObject({ state: 'AWAITING_INPUT' });
        await runtime.close();
      }
      const session = await (await openRuntime(database(), [agent])).session(given);
      const run = await session.approve(executionId, { by: 'ann' });
      expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    }

    test('in an earlier turn of the run', async () => {
      const { acts, agent } = agentThat(ask, { toolCalls: [call('note')] }, { toolCalls: [call('refund')] });
      const session = await openSession(await openRuntime(database(), [agent]), agent);
      const { awaiting } = await (await session.send('go')).result();
      expect(acts).toEqual(['note']);
      await comeBackAndApprove(agent, session, awaiting[0]!.executionId);
      expect(acts).toEqual(['note', 'refund']);
    });

    test('in the same turn, beside a call that is asked about only when it is about to start', async () => {
      const policy: Policy = (_, { isStart }) => (isStart ? requireApproval() : allow());
      const { acts, agent } = agentThat(policy, { toolCalls: [call('note'), call('refund')] });
      const runtime = await openRuntime(database(), [agent], { limits: { maxParallelTools: 1 } });
      const session = await openSession(runtime, agent);
      const { awaiting } = await (await session.send('go')).result();
      expect(acts).toEqual(['note']);
      await comeBackAndApprove(agent, session, awaiting[0]!.executionId);
      expect(acts).toEqual(['note', 'refund']);
    });

    test('when the process that goes on dies once more', async () => {
      const { acts, agent } = agentThat(ask, { toolCalls: [call('note')] }, { toolCalls: [call('refund')] });
      const session = await openSession(await openRuntime(database(), [agent]), agent);
      const { awaiting } = await (await session.send('go')).result();
      const { runtime, plan } = await openMortal(
        database(),
        [agent],
        [{ point: 'beforeEffect', where: isTool, fault: 'crash' }],
      );
      await (await runtime.session(session)).approve(awaiting[0]!.executionId, { by: 'ann' });
      await plan.struck;
      const { runtime: next } = await recoverLater(database(), [agent]);
      expect(acts).toEqual(['note']);
      const run = await (await next.session(session)).settle(awaiting[0]!.executionId, {
        outcome: 'runAgain',
        by: 'ann',
      });
      expect(await run.result()).toMatchObject({ state: 'IDLE' });
      expect(acts).toEqual(['note', 'refund']);
    });
  });
});
