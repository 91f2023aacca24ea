import { expect, test } from 'vitest';
import type { RunResult, Runtime, Session } from '../../../index.ts';
import { openMortal } from '../../support/runtime-crash.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession } from '../../support/runtime-open.ts';
import { waitFor } from '../../support/wait-for.ts';
import { waitForLockWait } from '../../support/wait-for-lock-wait.ts';
import { answersOf, type Behaviour, type Judgement, type RefundWorld, refundWorld } from './claim-scene.ts';

const IN_PROGRESS =
  'The call was not run: Another call with the same business key is in progress elsewhere. It was not repeated.';
const UNKNOWN =
  'The call was not run: The outcome of an earlier call with the same business key is unknown: it may have taken effect. It was not repeated.';
const ANSWERED = 'Not run again: a call with the same business key has succeeded before. Its result: {"refunded":"1"}';
const RAN = '{"refunded":"1"}';

/** The first session that takes the key, and how to bring its call where a row of the table says. */
interface First extends RefundWorld {
  runtime: Runtime;
  session: Session;
  send(): Promise<RunResult>;
  /** Sends, and waits until the tool is at work. */
  sendAndHang(): Promise<void>;
}

onPostgres((database) => {
  async function begin(world: RefundWorld = refundWorld()): Promise<First> {
    const runtime = await openRuntime(database(), [world.agent]);
    const tenantId = `tenant-${world.agent.name}`;
    const session = await openSession(runtime, world.agent, { tenantId });
    const send = async () => (await session.send('1')).result();
    const sendAndHang = async () => {
      await session.send('1');
      await waitFor(() => world.acts.length === 1, { for: 'the tool to be at work' });
    };
    return { ...world, runtime, session, send, sendAndHang };
  }

  const another = ({ runtime, agent, session }: First, over = {}) =>
    openSession(runtime, agent, { tenantId: session.tenantId, ...over });

  /** Another session asks for the same refund, and what its model is told of it. */
  async function ask(first: First, text = '1', over = {}) {
    const session = await another(first, over);
    await (await session.send(text)).result();
    return { session, answer: (await answersOf(session)).at(-1) };
  }

  const claimsOf = ({ session: { tenantId } }: First) =>
    database().query(
      'SELECT state, generation FROM turnlock.agent_idempotency_claims WHERE tenant_id = $1 ORDER BY key_digest',
      [tenantId],
    );

  type Row = [
    name: string,
    behaviour: Behaviour,
    judgement: Judgement,
    bringThere: (first: First) => Promise<unknown>,
    answer: string,
    claim: { state: string; generation: number },
  ];

  const held = { state: 'held', generation: 1 };
  const succeeded = { state: 'succeeded', generation: 1 };
  /** Once the second one has run. */
  const secondSucceeded = { state: 'succeeded', generation: 2 };
  const asked = async ({ send }: First) => (await send()).awaiting[0]!.executionId;
  const cancelAtWork = async ({ sendAndHang, session }: First) => {
    await sendAndHang();
    await session.cancel();
  };

  const table: Row[] = [
    ['waits for approval', 'succeeds', 'ask', asked, IN_PROGRESS, held],
    ['is at work', 'hangs', 'allow', ({ sendAndHang }) => sendAndHang(), IN_PROGRESS, held],
    ['has succeeded', 'succeeds', 'allow', ({ send }) => send(), ANSWERED, succeeded],
    ['has failed', 'fails', 'allow', ({ send }) => send(), RAN, secondSucceeded],
    ['has an unknown outcome', 'loses its answer', 'allow', ({ send }) => send(), UNKNOWN, held],
    ['was cancelled at work', 'hangs', 'allow', cancelAtWork, UNKNOWN, held],
    [
      'was cancelled at work, and came back late',
      'hangs deafly',
      'allow',
      async (first) => {
        const cancelled = cancelAtWork(first);
        await waitFor(async () => (await first.session.status()).state === 'IDLE', { for: 'the run to end' });
        first.open();
        await cancelled;
        await waitFor(
          async () => {
            await first.runtime.recover();
            return (await claimsOf(first))[0].state === 'succeeded';
          },
          { for: 'the late result to be taken' },
        );
      },
      ANSWERED,
      succeeded,
    ],
    [
      'was cancelled before it began',
      'succeeds',
      'ask',
      async (first) => {
        await first.send();
        await first.session.cancel();
      },
      RAN,
      secondSucceeded,
    ],
    [
      'was refused by a person',
      'succeeds',
      'ask',
      async (first) => first.session.deny(await asked(first), { by: 'ada', reason: 'no' }),
      RAN,
      secondSucceeded,
    ],
    [
      'was refused by the policy of its start',
      'succeeds',
      'ask, then deny',
      async (first) => (await first.session.approve(await asked(first), { by: 'ada' })).result(),
      RAN,
      secondSucceeded,
    ],
    [
      'was superseded by a message',
      'succeeds',
      'ask',
      async (first) => {
        await first.send();
        await (await first.session.send('2', { whenBusy: 'supersede' })).result();
      },
      RAN,
      { state: 'succeeded', generation: 2 },
    ],
    [
      'has expired',
      'succeeds',
      'ask',
      async ({ send, runtime }) => {
        await send();
        await database().moveClock(LONG_MS);
        await runtime.recover();
      },
      RAN,
      secondSucceeded,
    ],
    [
      'was approved',
      'succeeds',
      'ask',
      async (first) => (await first.session.approve(await asked(first), { by: 'ada' })).result(),
      ANSWERED,
      succeeded,
    ],
    [
      'was settled as succeeded before it began',
      'succeeds',
      'ask',
      async (first) =>
        first.session.settle(await asked(first), { outcome: 'succeeded', output: { refunded: '1' }, by: 'ada' }),
      ANSWERED,
      succeeded,
    ],
    [
      'was settled as succeeded',
      'loses its answer',
      'allow',
      async (first) =>
        first.session.settle(await asked(first), { outcome: 'succeeded', output: { refunded: '1' }, by: 'ada' }),
      ANSWERED,
      succeeded,
    ],
    [
      'was settled as failed',
      'loses its answer',
      'allow',
      async (first) => first.session.settle(await asked(first), { outcome: 'failed', reason: 'no', by: 'ada' }),
      RAN,
      secondSucceeded,
    ],
  ];

  test.each(table)('C45 a refund of the same order while or after the first one %s', async (...row) => {
    const [, behaviour, judgement, bringThere, answer, claim] = row;
    const world = refundWorld();
    const first = await begin(world);
    world.behaves.set(first.session.sessionId, behaviour);
    world.judges.set(first.session.sessionId, judgement);
    await bringThere(first);
    const before = world.acts.length;
    const second = await ask(first);
    expect(second.answer).toBe(answer);
    const ran = world.acts.slice(before).filter(({ order }) => order === '1');
    expect(ran.map(({ sessionId, generation }) => [sessionId, generation])).toEqual(
      answer === RAN ? [[second.session.sessionId, 2]] : [],
    );
    const claims = await claimsOf(first);
    expect(claims).toContainEqual(claim);
    world.open();
  });

  test('C45 the answered call points to the one that answered, and says when the params were others', async () => {
    const first = await begin();
    await first.send();
    const { session, answer } = await ask(first, '1=250');
    expect(answer).toContain('with other params. Its result: {"refunded":"1"}');
    const [row] = await database().query(
      `SELECT status, attempt, output_payload, claim_digest, (SELECT session_id FROM turnlock.agent_tool_executions a
          WHERE a.execution_id = e.answered_by) AS answering FROM turnlock.agent_tool_executions e WHERE session_id = $1`,
      [session.sessionId],
    );
    expect(row).toEqual({
      ...{ status: 'SUCCESS', attempt: 0, output_payload: { refunded: '1' }, claim_digest: null },
      answering: first.session.sessionId,
    });
    expect(first.acts).toHaveLength(1);
  });

  test.each([
    [
      false,
      'The call was not run: A call with the same business key has succeeded before, for another user. It was not repeated, and its result is not shown.',
    ],
    [true, ANSWERED],
  ])(
    'another user of the tenant is answered as the tool says (shareAcrossUsers: %s)',
    async (shareAcrossUsers, said) => {
      const first = await begin(refundWorld({ shareAcrossUsers }));
      await first.send();
      expect((await ask(first, '1', { userId: 'somebody-else' })).answer).toBe(said);
      expect(first.acts).toHaveLength(1);
    },
  );

  test('another tenant, and with per: session another session, have keys of their own; a repeat in the same session has not', async () => {
    const first = await begin();
    await first.send();
    expect((await ask(first, '1', { tenantId: `${first.session.tenantId}-2` })).answer).toBe(RAN);
    const own = await begin(refundWorld({ per: 'session' }));
    await own.send();
    expect((await ask(own)).answer).toBe(RAN);
    await own.send();
    expect((await answersOf(own.session)).at(-1)).toBe(ANSWERED);
    expect(own.acts).toHaveLength(2);
  });

  test('a claim outlives its session: what has succeeded is still answered', async () => {
    const first = await begin();
    await first.send();
    await database().query('DELETE FROM turnlock.agent_sessions WHERE session_id = $1', [first.session.sessionId]);
    expect((await ask(first)).answer).toBe(ANSWERED);
  });

  test('two calls of one turn with one key: the first one runs, the other is answered', async () => {
    const first = await begin();
    const { answer } = await ask(first, '1=5 1=7');
    expect(answer).toBe(IN_PROGRESS);
    expect(first.acts).toHaveLength(1);
  });

  test.each<[string, (params: { order: string }) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no order');
      },
    ],
    ['makes no text', () => 7],
    ['makes an empty text', () => ''],
    ['makes a blank text', () => ' \n'],
    ['makes the text of a missing value', (params) => `${(params as { id?: string }).id}`],
    ['makes a promise', () => Promise.reject(new Error('later'))],
  ])('a key function that %s: the call fails, says so, and runs nothing', async (_, key) => {
    const first = await begin(refundWorld({ key: key as never }));
    await first.send();
    expect((await answersOf(first.session))[0]).toMatch(/^The call failed: The business key could not be made/);
    expect(first.acts).toEqual([]);
    expect(await claimsOf(first)).toEqual([]);
    const [row] = await database().query(
      'SELECT error_code FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [first.session.sessionId],
    );
    expect(row.error_code).toBe('CLAIM_KEY_FAILED');
  });

  test('params that an approver changes: the new key is taken and the old one free; a key of another call is a conflict', async () => {
    const world = refundWorld();
    const first = await begin(world);
    await first.send();
    const second = await another(first);
    world.judges.set(second.sessionId, 'ask');
    const { awaiting } = await (await second.send('2')).result();
    const [{ executionId } = awaiting[0]!] = awaiting;
    const taken = second.approve(executionId, { by: 'ada', params: { order: '1' } });
    await expect(taken).rejects.toMatchObject({ code: 'KEY_CONFLICT', hint: expect.stringContaining('other params') });
    await (await second.approve(executionId, { by: 'ada', params: { order: '3' } })).result();
    expect(world.acts.map(({ order, generation }) => [order, generation])).toEqual([
      ['1', 1],
      ['3', 1],
    ]);
    await ask(first, '2');
    expect(world.acts.at(-1)).toMatchObject({ order: '2', generation: 2 });
    const amended = await another(first);
    world.judges.set(amended.sessionId, 'ask');
    const again = (await (await amended.send('4')).result()).awaiting[0]!;
    await (await amended.approve(again.executionId, { by: 'ada', params: { order: '4', cents: 1 } })).result();
    expect(world.acts.at(-1)).toMatchObject({ order: '4', generation: 1 });
    expect((await ask(first, '4=1')).answer).toContain('has succeeded before. Its result');
  });

  test.each([
    ['commits', IN_PROGRESS],
    ['dies', RAN],
  ])(
    'two sessions at once: while the commit that takes a key is open the other one waits, and is right when the first one %s',
    async (how, answer) => {
      const world = refundWorld();
      const first = await begin(world);
      const takes = ({ statement = '' }: { statement?: string }) => statement.includes('agent_idempotency_claims');
      const mortal = await openMortal(
        database(),
        [world.agent],
        [{ point: 'afterStatement', fault: 'stall', where: takes }],
      );
      const slow = await openSession(mortal.runtime, world.agent, { tenantId: first.session.tenantId });
      world.behaves.set(slow.sessionId, 'hangs');
      void slow.send('1').catch(() => undefined);
      await mortal.plan.struck;
      const second = ask(first);
      await waitForLockWait(database().url, { event: 'transactionid' });
      if (how === 'dies') {
        void mortal.plan.crash();
        await database().query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'mortal'`,
        );
      } else {
        mortal.plan.resume();
      }
      expect((await second).answer).toBe(answer);
      expect(world.acts.filter(({ order }) => order === '1')).toHaveLength(1);
      world.open();
    },
  );

  test('two processes whose turns name the same keys in opposite order come to rest, and each key is used once', async () => {
    const world = refundWorld();
    const first = await begin(world);
    const other = await openRuntime(database(), [world.agent]);
    for (let round = 0; round < 5; round += 1) {
      const orders = ['a', 'b', 'c', 'd'].map((name) => `${name}${round}`);
      const sessions = await Promise.all(
        [first.runtime, other, first.runtime, other].map((runtime) =>
          openSession(runtime, world.agent, { tenantId: first.session.tenantId }),
        ),
      );
      const texts = [orders, orders.toReversed(), [...orders.slice(2), ...orders.slice(0, 2)], orders.toReversed()];
      const ended = await Promise.all(
        sessions.map(async (session, place) => (await session.send(texts[place]!.join(' '))).result()),
      );
      expect(ended.map(({ state }) => state)).toEqual(['IDLE', 'IDLE', 'IDLE', 'IDLE']);
    }
    const names = world.acts.map(({ order }) => order);
    expect(names).toHaveLength(20);
    expect(new Set(names).size).toBe(20);
  });
});
