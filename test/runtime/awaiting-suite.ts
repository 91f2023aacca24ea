import { describe, expect, test } from 'vitest';
import { type AwaitedExecution, type Awaiting, type RunResult, requireApproval, ToolError } from '../../index.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, refundAgent } from './approval-scene.ts';

/** What waits for people, as the host hears of it and answers it. */
export const describeAwaiting: RuntimeSuite = (database) => {
  const open = async (agent: Parameters<typeof openSession>[1], more = {}) => {
    const runtime = await openRuntime(database(), [agent], more);
    return { runtime, session: await openSession(runtime, agent) };
  };

  describe('onAwaiting', () => {
    test('C49 the hook is told after the commit: who approves in that moment succeeds', async () => {
      const { agent, acts } = refundAgent(() => requireApproval({ question: 'Why?' }), { order: 1 });
      const told: Awaiting[] = [];
      const approved: Promise<unknown>[] = [];
      const onAwaiting = (awaiting: Awaiting): void => {
        told.push(awaiting);
        approved.push(session.approve(awaiting.executionId, { by: 'ada', digest: awaiting.digest }));
      };
      const { session } = await open(agent, { onAwaiting });
      await session.send('refund');
      await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the approved call to run' });
      await Promise.all(approved);
      expect(acts).toEqual([{ order: 1 }]);
      expect(told).toMatchObject([{ sessionId: session.sessionId, question: 'Why?', reason: 'approval', round: 1 }]);
    });

    test('a hook that fails is told again, by a sweep of another process too, until it took it; then nobody is told again', async () => {
      const { agent } = refundAgent(ask, { order: 1 });
      const warnings: string[] = [];
      const onWarning = ({ code }: { code: string }) => warnings.push(code);
      const failing = () => Promise.reject(new Error('the webhook is down'));
      const { session } = await open(agent, { onAwaiting: failing, onWarning });
      await (await session.send('refund')).result();
      await waitFor(() => warnings.includes('ON_AWAITING_FAILED'), { for: 'the hook to fail' });
      const told: string[] = [];
      const onAwaiting = ({ sessionId }: Awaiting) => void told.push(sessionId);
      const other = await openRuntime(database(), [agent], { onAwaiting });
      await other.recover();
      await other.recover();
      expect(told.filter((id) => id === session.sessionId)).toEqual([session.sessionId]);
    });

    test('two questions of one commit: while the hook is out with one, a sweep tells the other, and nobody tells it once more', async () => {
      const { agent } = refundAgent(ask, { order: 1 }, { order: 2 });
      const told: string[] = [];
      const ends: (() => void)[] = [];
      const onAwaiting = ({ sessionId, approvalId }: Awaiting) => {
        if (sessionId !== session.sessionId) return;
        told.push(approvalId);
        return told.length === 1 ? new Promise<void>((resolve) => ends.push(resolve)) : undefined;
      };
      const { runtime, session } = await open(agent, { onAwaiting });
      await (await session.send('refund')).result();
      await waitFor(() => told.length === 1, { for: 'the hook to be told of one' });
      await runtime.recover();
      expect(new Set(told).size).toBe(2);
      ends[0]!();
      const isNoted = async () => {
        const [row] = await database().query(
          'SELECT count(*)::int AS n FROM turnlock.agent_approvals WHERE session_id = $1 AND announced_at IS NULL',
          [session.sessionId],
        );
        return row.n === 0;
      };
      await waitFor(isNoted, { for: 'both to be noted as told' });
      await runtime.close();
      expect(told.length).toBe(2);
    });

    test('a hook that never ends is given up in time, and keeps no close waiting', async () => {
      const { agent } = refundAgent(ask, { order: 1 });
      const warnings: { code: string; message: string }[] = [];
      const onWarning = (warning: { code: string; message: string }) => warnings.push(warning);
      const told: string[] = [];
      const onAwaiting = ({ sessionId }: Awaiting) => {
        told.push(sessionId);
        return new Promise(() => undefined);
      };
      const { session } = await open(agent, { onAwaiting, onWarning, limits: { hookTimeoutMs: 20 } });
      await (await session.send('refund')).result();
      const isGivenUp = () => warnings.some(({ message }) => message.includes('did not end within 20 ms'));
      await waitFor(isGivenUp, { for: 'the hook to be given up' });
      const patient = await openRuntime(database(), [agent], { onAwaiting });
      const another = await openSession(patient, agent);
      await (await another.send('refund')).result();
      await waitFor(() => told.includes(another.sessionId), { for: 'the hook to be told' });
      await patient.close();
      const [row] = await database().query('SELECT announced_at FROM turnlock.agent_approvals WHERE session_id = $1', [
        another.sessionId,
      ]);
      expect(row.announced_at).toBeNull();
    });
  });

  test('C24 a batch: each decision is answered by its id, and the good ones count', async () => {
    const { agent, acts } = refundAgent(ask, { order: 1 }, { order: 2 });
    const { runtime, session } = await open(agent);
    const { awaiting } = await (await session.send('refund')).result();
    const [one, two] = awaiting.map(({ executionId }) => executionId);
    await session.deny(one!, { by: 'ada', reason: 'no' });
    const nobody = '0198c5f0-0000-7000-8000-000000000009';
    const decisions = [
      { executionId: one!, decision: 'approve', by: 'bob' },
      { executionId: nobody, decision: 'approve', by: 'bob' },
      { executionId: 'what', decision: 'approve', by: 'bob' },
      { executionId: two!, decision: 'approve', by: 'bob' },
    ] as const;
    expect(await runtime.decide({ tenantId: 'tenant', decisions })).toMatchObject([
      { executionId: one, ok: false, error: { code: 'APPROVAL_DECIDED' } },
      { executionId: nobody, ok: false, error: { code: 'EXECUTION_NOT_FOUND' } },
      { executionId: 'what', ok: false, error: { code: 'VALUE_INVALID' } },
      { executionId: two, ok: true, sessionId: session.sessionId },
    ]);
    expect(await (await session.resume())!.result()).toMatchObject({ state: 'IDLE' });
    expect(acts).toEqual([{ order: 2 }]);
  });

  test('a result and the status name the very question, as the list does, also where some are answered', async () => {
    const { agent, acts } = refundAgent(ask, { order: 1 }, { order: 2 });
    const { runtime, session } = await open(agent);
    const listed = async () =>
      (await runtime.awaiting({ tenantId: 'tenant', sessionId: session.sessionId })).map(
        ({ approvalId }) => approvalId,
      );
    const named = ({ awaiting }: Pick<RunResult, 'awaiting'>) => awaiting.map(({ approvalId }) => approvalId);
    const sent = await session.send('refund', { messageId: 'm' });
    const first = await sent.result();
    expect(named(first)).toEqual(await listed());
    expect(new Set(named(first)).size).toBe(2);
    expect(named(await (await session.send('refund', { messageId: 'm' })).result())).toEqual(named(first));
    const [one, two] = first.awaiting as [AwaitedExecution, AwaitedExecution];
    await expect(session.approve(one.executionId, { by: 'ada', approvalId: two.approvalId })).rejects.toMatchObject({
      code: 'APPROVAL_STALE',
    });
    const next = await (await session.approve(one.executionId, { by: 'ada', approvalId: one.approvalId })).result();
    expect(named(next)).toEqual([two.approvalId]);
    expect(await listed()).toEqual([two.approvalId]);
    expect(named(await session.status())).toEqual([two.approvalId]);
    expect(acts).toEqual([]);
  });

  test('a settlement that names its question settles nothing of a later one, of another call, or once it is answered', async () => {
    const acts: number[] = [];
    const book = looseTool(
      'book',
      () => {
        acts.push(acts.length);
        throw new ToolError('no answer', { outcome: 'unknown' });
      },
      { effect: 'nonRepeatable' },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('book', { seat: 1 })] }, 'done'), [book]);
    const { session } = await open(agent);
    const first = await (await session.send('book')).result();
    const [{ executionId, approvalId }] = first.awaiting as [AwaitedExecution];
    const again = { outcome: 'runAgain', by: 'ada', approvalId } as const;
    const second = await (await session.settle(executionId, again)).result();
    const [later] = second.awaiting as [AwaitedExecution];
    expect(later).toMatchObject({ executionId, reason: 'unknown' });
    expect(later.approvalId).not.toBe(approvalId);
    const happened = { outcome: 'succeeded', output: 'seat 1', by: 'bob' } as const;
    const { version } = await session.status();
    for (const settlement of [again, { ...happened, approvalId }]) {
      await expect(session.settle(executionId, settlement)).rejects.toMatchObject({
        code: 'APPROVAL_DECIDED',
        details: { decision: 'settled', decidedBy: 'ada', round: 1 },
      });
    }
    const elsewhere = session.settle(executionId, { ...happened, approvalId: executionId });
    await expect(elsewhere).rejects.toMatchObject({
      code: 'APPROVAL_STALE',
      details: { approvalId: later.approvalId },
    });
    expect((await session.status()).version).toBe(version);
    expect(acts).toHaveLength(2);
    const settled = await session.settle(executionId, { ...happened, approvalId: later.approvalId });
    expect(await settled.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
  });
};
