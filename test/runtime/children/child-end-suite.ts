import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type AwaitedExecution, defineTool, requireApproval, TurnlockError } from '../../../index.ts';
import { commitEvent } from '../../../persistence/commit-event.ts';
import type { Passage } from '../../../testing/faults/fault-plan.ts';
import { openStore } from '../../support/open-store.ts';
import { openMortal, recoverLater } from '../../support/runtime-crash.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession } from '../../support/runtime-open.ts';
import { call, gate, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { typesOf } from '../inbox-scene.ts';
import { agentOf, answersOf, asked, asking, childrenOf, rowOf, told } from './scene.ts';

const ASK = { toolName: 'research', input: { message: 'gold' } };

/** Whether the transaction under way begins a child. */
const hasBegunChild = (passages: readonly Passage[]) =>
  passages
    .slice(passages.findLastIndex(({ point }) => point === 'beforeBegin'))
    .some(({ statement }) => statement?.includes('with child as'));

/** How children end, and what their parents hear of it. */
export const describeChildEnds: RuntimeSuite = (database) => {
  const evidence = async (sessionId: string) =>
    database().query(
      'SELECT outcome, output, error_code FROM turnlock.agent_tool_evidence WHERE session_id = $1 ORDER BY created_at',
      [sessionId],
    );

  test('a child that fails is a call that failed, and the parent goes on', async () => {
    const research = agentOf('research', () => {
      throw new Error('no quota');
    });
    const boss = agentOf('boss', asking(ASK), [research.asTool({ name: 'research' })]);
    const runtime = await openRuntime(database(), [boss], { limits: { maxModelAttempts: 1 } });
    const session = await openSession(runtime, boss);
    const { state, reply } = await (await session.send('go')).result();
    expect([state, reply]).toEqual(['IDLE', 'The call failed: MODEL_FAILED: no quota']);
    expect(await childrenOf(database(), session)).toMatchObject([{ state: 'FAILED' }]);
  });

  test('a child that waits for a person: the parent says what is asked, and goes on once it is decided', async () => {
    const { boss } = withCharge();
    const runtime = await openRuntime(database(), [boss]);
    const session = await openSession(runtime, boss);
    const run = await session.send('go');
    const { state, awaiting, queued } = await run.result();
    const [child] = await childrenOf(database(), session);
    expect([state, queued]).toEqual(['EXECUTING_TOOL', false]);
    expect(awaiting).toMatchObject([{ sessionId: child!.id, toolName: 'charge', reason: 'unknown' }]);
    expect((await session.status()).awaiting).toEqual(awaiting);
    expect(await rowOf(database(), session)).toMatchObject({ state: 'EXECUTING_TOOL', holder: null, sleeps: true });
    const below = await runtime.session({ tenantId: 'tenant', sessionId: child!.id });
    expect((await below.status()).parent).toEqual({ sessionId: session.sessionId, executionId: child!.execution });
    await (
      await below.settle(awaiting[0]!.executionId, { outcome: 'succeeded', output: 'charged', by: 'ann' })
    ).result();
    const goesOn = await session.resume();
    expect(await goesOn!.result()).toMatchObject({ state: 'IDLE', reply: 'child: charged' });
  });

  test('a child that waits for approval, and a call of a child that does: both are decided, and the parent goes on', async () => {
    const pay = defineTool({
      name: 'pay',
      description: '',
      inputSchema: z.looseObject({}),
      policy: () => requireApproval(),
      execute: () => 'paid',
    });
    const research = agentOf('research', asking(call('pay')), [pay]);
    const boss = agentOf('boss', asking(ASK), [research.asTool({ name: 'research', policy: () => requireApproval() })]);
    const runtime = await openRuntime(database(), [boss]);
    const session = await openSession(runtime, boss);
    const first = await (await session.send('go')).result();
    expect(first).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ toolName: 'research' }] });
    expect(await childrenOf(database(), session)).toEqual([]);
    const approve = async ({ sessionId, executionId, digest }: AwaitedExecution) => {
      const asker = await runtime.session({ tenantId: 'tenant', sessionId });
      return (await asker.approve(executionId, { by: 'ann', digest })).result();
    };
    const second = await approve(first.awaiting[0]!);
    expect(second).toMatchObject({ state: 'EXECUTING_TOOL', awaiting: [{ toolName: 'pay', reason: 'approval' }] });
    await approve(second.awaiting[0]!);
    expect(await (await session.resume())!.result()).toMatchObject({ state: 'IDLE', reply: 'paid' });
  });

  test('a message behind such a parent waits, and its run says what is asked', async () => {
    const { boss } = withCharge();
    const session = await openSession(await openRuntime(database(), [boss]), boss);
    await (await session.send('go')).result();
    const second = await session.send('and more');
    expect(await second.result()).toMatchObject({ queued: true, awaiting: [{ toolName: 'charge' }] });
  });

  test('C14 the process dies between the last commit of a child and the word to its parent: the parent looks itself', async () => {
    const research = agentOf('research', (request) => `found ${asked(request)}`);
    const boss = agentOf('boss', asking(ASK), [research.asTool({ name: 'research' })]);
    const { runtime, plan } = await openMortal(database(), [boss], [{ point: 'beforeEvidence', fault: 'crash' }]);
    const session = await openSession(runtime, boss);
    await session.send('go');
    await plan.struck;
    expect(await evidence(session.sessionId)).toEqual([]);
    const later = await recoverLater(database(), [boss]);
    const again = await later.runtime.session({ tenantId: 'tenant', sessionId: session.sessionId });
    await waitFor(async () => (await again.status()).state === 'IDLE', { for: 'the parent to go on' });
    expect(await answersOf(again)).toEqual(['found gold']);
    expect(await evidence(session.sessionId)).toMatchObject([{ outcome: 'succeeded', output: 'found gold' }]);
    expect(await childrenOf(database(), session)).toHaveLength(1);
  });

  test('an answer of COMMIT that is lost makes no second child', async () => {
    const research = agentOf('research', (request) => `found ${asked(request)}`);
    const boss = agentOf('boss', asking(ASK), [research.asTool({ name: 'research' })]);
    let isCreated = false;
    const { runtime, plan } = await openMortal(
      database(),
      [boss],
      [{ point: 'commitSent', fault: 'disconnect', where: () => isCreated && hasBegunChild(plan.passages) }],
    );
    isCreated = true;
    const session = await openSession(runtime, boss);
    expect((await (await session.send('go')).result()).reply).toBe('found gold');
    expect(await childrenOf(database(), session)).toHaveLength(1);
    expect(await evidence(session.sessionId)).toHaveLength(1);
  });

  test('cancel of the parent cancels the child, whose tool is in another process, and the parent hears how it ended', async () => {
    const begun = gate();
    const stopped = gate();
    const wait = looseTool('wait', async (_params, { signal }) => {
      begun.open();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      stopped.open();
      throw new Error('stopped');
    });
    const research = agentOf('research', asking(call('wait')), [wait]);
    const boss = agentOf('boss', asking(ASK), [research.asTool({ name: 'research' })]);
    const limits = { leaseMs: 600, heartbeatMs: 100, sweepMs: 100 };
    const worker = await openRuntime(database(), [boss], { limits });
    await worker.start();
    const session = await openSession(await openRuntime(database(), [boss], { drive: false }), boss);
    await session.send('go');
    await begun.opened;
    await session.cancel();
    await stopped.opened;
    expect((await session.status()).state).toBe('IDLE');
    await waitFor(async () => (await typesOf(session)).includes('tool.evidenced'), { for: 'the word of the child' });
    const [child] = await childrenOf(database(), session);
    expect(child).toMatchObject({ state: 'IDLE', holder: null });
    expect(await evidence(session.sessionId)).toMatchObject([{ outcome: 'failed', error_code: 'RUN_CANCELLED' }]);
    expect((await session.history()).at(-1)).toMatchObject({
      role: 'system',
      content: expect.stringContaining('cancelled'),
    });
  });

  test('the process dies right after it cancelled a parent: whoever sweeps cancels the child, which waits for a person', async () => {
    const { boss } = withCharge();
    const session = await openSession(await openRuntime(database(), [boss]), boss);
    await (await session.send('go')).result();
    const [child] = await childrenOf(database(), session);
    // The commit, and nothing of what a runtime does after it.
    await commitEvent(await openStore(database()), {
      tenantId: 'tenant',
      sessionId: session.sessionId,
      eventId: randomUUID(),
      cause: 'user',
      event: { type: 'run.cancelled', by: 'ann', content: {} },
      claim: { type: 'raise' },
    });
    expect(await rowOf(database(), { sessionId: child!.id })).toMatchObject({ state: 'AWAITING_INPUT' });
    const later = await recoverLater(database(), [boss]);
    const below = await later.runtime.session({ tenantId: 'tenant', sessionId: child!.id });
    expect((await below.status()).state).toBe('IDLE');
    expect(await typesOf(below)).toContain('run.cancelled');
    expect(await database().query(`SELECT 1 FROM turnlock.agent_inbox WHERE kind = 'cancel'`)).toEqual([]);
  });

  test('a child that has not begun when its parent is cancelled never does', async () => {
    const models: string[] = [];
    const research = agentOf('research', (request) => {
      models.push(asked(request));
      return 'found';
    });
    const boss = agentOf('boss', asking(ASK), [research.asTool({ name: 'research' })]);
    let parent = '';
    const { runtime, plan } = await openMortal(
      database(),
      [boss],
      [
        {
          point: 'afterLock',
          fault: 'crash',
          where: ({ sessionId }) => sessionId !== undefined && sessionId !== parent,
        },
      ],
    );
    const session = await openSession(runtime, boss);
    parent = session.sessionId;
    await session.send('go');
    await plan.struck;
    await database().moveClock(LONG_MS);
    const other = await openRuntime(database(), [boss]);
    await (await other.session({ tenantId: 'tenant', sessionId: session.sessionId })).cancel();
    await other.recover();
    const [child] = await childrenOf(database(), session);
    const below = await other.session({ tenantId: 'tenant', sessionId: child!.id });
    expect(await typesOf(below)).toEqual(['message.rejected']);
    expect(models).toEqual([]);
  });

  test('more calls than may run side by side: the children come one after the other', async () => {
    const research = agentOf('research', (request) => `found ${asked(request)}`);
    const calls = ['a', 'b', 'c'].map((message) => ({ toolName: 'research', input: { message } }));
    const boss = agentOf('boss', asking(...calls), [research.asTool({ name: 'research' })]);
    const runtime = await openRuntime(database(), [boss], { limits: { maxParallelTools: 1 } });
    const session = await openSession(runtime, boss);
    expect((await (await session.send('go')).result()).reply).toBe('found a + found b + found c');
    expect((await typesOf(session)).filter((type) => type === 'execution.started')).toHaveLength(2);
  });

  test('LIMIT_CHILD_DEPTH: agents that ask agents too deep are told so', async () => {
    const third = agentOf('third', 'deep');
    const second = agentOf('second', asking({ toolName: 'third', input: { message: 'x' } }), [
      third.asTool({ name: 'third' }),
    ]);
    const first = agentOf('first', asking({ toolName: 'second', input: { message: 'x' } }), [
      second.asTool({ name: 'second' }),
    ]);
    const session = await openSession(await openRuntime(database(), [first], { limits: { maxChildDepth: 1 } }), first);
    expect((await (await session.send('go')).result()).reply).toContain('too many agents ask each other');
    const [child] = await childrenOf(database(), session);
    expect(await childrenOf(database(), { sessionId: child!.id })).toEqual([]);
  });

  /** A boss whose agent has a tool of which a person must say what became. */
  function withCharge() {
    const charge = looseTool(
      'charge',
      () => {
        throw new TurnlockError('TOOL_OUTCOME_UNKNOWN', { message: 'the bank did not answer' });
      },
      { effect: 'nonRepeatable' },
    );
    const research = agentOf(
      'research',
      (request) => (told(request).length === 0 ? { toolCalls: [call('charge')] } : `child: ${told(request).join()}`),
      [charge],
    );
    return { boss: agentOf('boss', asking(ASK), [research.asTool({ name: 'research' })]) };
  }
};
