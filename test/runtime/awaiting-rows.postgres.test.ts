import { expect, test } from 'vitest';
import { type Runtime, requireApproval, type Session } from '../../index.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession } from '../support/runtime-open.ts';
import { refundAgent } from './approval-scene.ts';

type Answer = (session: Session, asked: { executionId: string; digest: string }, runtime: Runtime) => Promise<unknown>;

const by = 'ada';

onPostgres((database) => {
  test.each<[string, Answer]>([
    ['approved', (session, { executionId }) => session.approve(executionId, { by })],
    [
      'approved with other params',
      (session, { executionId }) => session.approve(executionId, { by, params: { order: 9 } }),
    ],
    ['refused', (session, { executionId }) => session.deny(executionId, { by, reason: 'no' })],
    ['settled by hand', (session, { executionId }) => session.settle(executionId, { outcome: 'succeeded', by })],
    ['cancelled with its run', (session) => session.cancel({ by })],
    ['superseded by a message', (session) => session.send('never mind', { whenBusy: 'supersede' })],
    [
      'expired',
      async (_session, _asked, runtime) => {
        await database().moveClock(LONG_MS);
        await runtime.recover();
      },
    ],
  ])('C50 the list is read from rows, in any process, and what was %s is in it no more', async (_, answer) => {
    const { agent } = refundAgent(() => requireApproval({ expiresInMs: 60_000 }), { order: 1 }, { order: 2 });
    const asking = await openRuntime(database(), [agent]);
    const { tenantId, sessionId } = await openSession(asking, agent);
    const query = { tenantId, sessionId };
    await (await (await asking.session(query)).send('refund')).result();
    await asking.close();
    const runtime = await openRuntime(database(), [agent]);
    const list = async () => (await runtime.awaiting(query)).map(({ executionId }) => executionId);
    const before = await runtime.awaiting(query);
    expect(before.map(({ params }) => (params as { order: number }).order).sort()).toEqual([1, 2]);
    await answer(await runtime.session(query), before[0]!, runtime);
    // The message that supersedes goes on to questions of its own.
    const left = await list();
    expect(left).not.toContain(before[0]!.executionId);
    const isOfOneCall = /^(approved|refused|settled)/.test(_);
    expect(left.includes(before[1]!.executionId)).toBe(isOfOneCall);
  });

  test('questions of one reply are listed in the order of its calls, page by page too', async () => {
    const orders = Array.from({ length: 12 }, (_, order) => ({ order }));
    const { agent } = refundAgent(() => requireApproval(), ...orders);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('refund')).result();
    const query = { tenantId: session.tenantId, sessionId: session.sessionId };
    const found: unknown[] = [];
    for (let after: string | undefined; found.length < orders.length; ) {
      const page = await runtime.awaiting({ ...query, limit: 5, ...(after === undefined ? {} : { after }) });
      found.push(...page.map(({ params }) => params));
      after = page.at(-1)!.approvalId;
    }
    expect(found).toEqual(orders);
  });
});
