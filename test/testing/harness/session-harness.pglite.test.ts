import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { scripted } from '../../../adapters/models/scripted.ts';
import { type Agent, defineAgent, defineTool, ToolError } from '../../../index.ts';
import { openSessionHarness, type SessionHarness } from '../../../testing/harness/session-harness.ts';
import { PROMISE_NAMES } from '../../../testing/invariants/promise-names.ts';
import type { ProcessUnderTest } from '../../../testing/subject.ts';

let harness: SessionHarness;
beforeAll(async () => {
  harness = await openSessionHarness();
});
afterEach(() => harness.reset());
afterAll(() => harness.close());

const owner = { agent: 'support', tenantId: 'acme', userId: 'ann' } as const;
const inputSchema = z.object({ cents: z.int() });
const model = scripted([{ toolCalls: [{ toolName: 'charge', input: { cents: 5 } }] }, 'done']);

/** An agent that charges once, and notes by which process and with which key each act was done. */
function charging(acts: { by: number; key: string }[]) {
  return (process: ProcessUnderTest): readonly [Agent] => [
    defineAgent({
      name: 'support',
      instructions: 'Charge.',
      model,
      tools: [
        defineTool({
          name: 'charge',
          description: 'Charges.',
          inputSchema,
          effect: 'idempotent',
          async execute(_params, { idempotencyKey }) {
            await process.at('before the act');
            acts.push({ by: process.number, key: idempotencyKey });
            await process.at('after the act');
            return 'charged';
          },
        }),
      ],
    }),
  ];
}

const isAct = ({ place }: { place?: string }) => place === 'after the act';

test('a process dies after the act, another one goes on: it acts again with the same key', async () => {
  const acts: { by: number; key: string }[] = [];
  const agents = charging(acts);
  const first = await harness.start({ agents, faults: [{ point: 'place', where: isAct, fault: 'crash' }] });
  const session = await first.runtime.createSession(owner);
  await session.send('charge me');
  expect(await first.plan.struck).toMatchObject({ place: 'after the act' });
  const second = await harness.start({ agents });
  expect(await second.runtime.recover()).toEqual([]);
  const { sessionId } = session;
  expect(await harness.promises()).toEqual([
    { promise: PROMISE_NAMES.rests, message: `session ${sessionId} is EXECUTING_TOOL and owes work` },
  ]);
  await harness.jump(60_000);
  expect(await second.runtime.recover()).toMatchObject([{ sessionId, state: 'IDLE' }]);
  expect(acts.map(({ by }) => by)).toEqual([1, 2]);
  expect(new Set(acts.map(({ key }) => key)).size).toBe(1);
  expect(await harness.promises()).toEqual([]);
});

test('a paused process comes back when another one has gone on: it writes nothing any more', async () => {
  const acts: { by: number; key: string }[] = [];
  const agents = charging(acts);
  const zombie = await harness.start({ agents, faults: [{ point: 'place', where: isAct, fault: 'stall' }] });
  const session = await zombie.runtime.createSession(owner);
  await session.send('charge me');
  await zombie.plan.struck;
  const second = await harness.start({ agents });
  await harness.jump(60_000);
  expect(await second.runtime.recover()).toMatchObject([{ state: 'IDLE' }]);
  zombie.plan.resume();
  await harness.quiet();
  const [{ status, attempt }] = await harness.query('SELECT status, attempt FROM turnlock.agent_tool_executions');
  expect({ status, attempt }).toEqual({ status: 'SUCCESS', attempt: 2 });
  expect(acts.map(({ by }) => by)).toEqual([1, 2]);
  expect(await harness.promises()).toEqual([]);
});

test('a lost answer to COMMIT is looked up at once: back-offs wait for no jump of the clock', async () => {
  const acts: { by: number; key: string }[] = [];
  const faults = (['commitSent', 'beforeCommit', 'afterStatement'] as const).map(
    (point) => ({ point, occurrence: 2, fault: 'disconnect' }) as const,
  );
  const { runtime } = await harness.start({ agents: charging(acts), faults });
  const before = harness.clock.now();
  const run = await (await runtime.createSession(owner)).send('charge me');
  expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
  expect(harness.clock.now()).toBe(before);
  expect(acts).toHaveLength(1);
});

test('a tool that hangs is given up once the clock has passed its time-out, also inside a transaction', async () => {
  for (const effect of ['readOnly', 'transactional'] as const) {
    let calls = 0;
    const hang = defineTool({
      name: 'charge',
      description: 'Hangs.',
      inputSchema,
      effect,
      timeoutMs: 5_000,
      execute: async () => {
        calls += 1;
        if (calls === 1) await new Promise(() => undefined);
        return 'charged';
      },
    } as Parameters<typeof defineTool>[0]);
    const agents = [defineAgent({ name: 'support', instructions: 'Hang.', model, tools: [hang] })] as const;
    const { runtime } = await harness.start({ agents });
    const run = await (await runtime.createSession(owner)).send('go');
    await harness.jump(4_999);
    expect(calls).toBe(1);
    await harness.jump(60_000);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(calls).toBe(effect === 'readOnly' ? 2 : 1);
    await harness.reset();
  }
});

test('a process that dies inside a transaction leaves nothing of it, and lets go of the connection', async () => {
  const agents = (process: ProcessUnderTest) => {
    const book = defineTool({
      name: 'charge',
      description: 'Books.',
      inputSchema,
      effect: 'transactional',
      async execute(_params, { transaction }) {
        await transaction.query('INSERT INTO books (process) VALUES ($1)', [process.number]);
        await process.at('after the act');
        return 'booked';
      },
    });
    return [defineAgent({ name: 'support', instructions: 'Book.', model, tools: [book] })] as const;
  };
  await harness.query('CREATE TABLE books (process int)');
  const first = await harness.start({ agents, faults: "crash at 'after the act'" });
  await (await first.runtime.createSession(owner)).send('go');
  await first.plan.struck;
  await harness.jump(60_000);
  const second = await harness.start({ agents });
  expect(await second.runtime.recover()).toMatchObject([{ state: 'IDLE' }]);
  expect(await harness.query('SELECT process FROM books')).toEqual([{ process: 2 }]);
  await harness.query('DROP TABLE books');
});

test('a process that is killed from outside does nothing any more', async () => {
  const acts: { by: number; key: string }[] = [];
  const agents = charging(acts);
  const first = await harness.start({ agents });
  const session = await first.runtime.createSession(owner);
  await session.send('charge me');
  await first.crash();
  const before = acts.length;
  await harness.jump(60_000);
  expect(acts).toHaveLength(before);
  const second = await harness.start({ agents });
  expect(await second.runtime.recover()).toMatchObject([{ state: 'IDLE' }]);
  expect(await harness.executions()).toMatchObject([
    { toolName: 'charge', status: 'SUCCESS', idempotencyKey: acts[0]?.key },
  ]);
});

test('a model that fails is asked again at once', async () => {
  let asked = 0;
  const moody = scripted(() => {
    asked += 1;
    if (asked < 3) throw new ToolError('busy');
    return 'done';
  });
  const { runtime } = await harness.start({
    agents: [defineAgent({ name: 'support', instructions: '', model: moody })],
  });
  const run = await (await runtime.createSession(owner)).send('go');
  expect(await run.result()).toMatchObject({ reply: 'done' });
  expect(asked).toBe(3);
});

test('whoever waits for a run of another process hears of its end without a jump', async () => {
  let go = (): void => undefined;
  const waits = new Promise<string>((resolve) => {
    go = () => resolve('done');
  });
  const agents = [defineAgent({ name: 'support', instructions: '', model: scripted(() => waits) })] as const;
  const [first, second] = [await harness.start({ agents }), await harness.start({ agents })];
  const { sessionId, tenantId } = await first.runtime.createSession(owner);
  const options = { messageId: 'm1' };
  await (await first.runtime.session({ sessionId, tenantId })).send('go', options);
  const run = await (await second.runtime.session({ sessionId, tenantId })).send('go', options);
  const result = run.result();
  go();
  expect(await result).toMatchObject({ state: 'IDLE', reply: 'done' });
});

test('ids, numbers and the clock are the same after a reset, and nothing is left', async () => {
  const play = async () => {
    const acts: { by: number; key: string }[] = [];
    const startsAt = harness.clock.now();
    const { runtime, number } = await harness.start({ agents: charging(acts) });
    const session = await runtime.createSession(owner);
    const { runId } = await session.send('charge me');
    await harness.jump(1_000);
    const rows = await harness.query(
      'SELECT count(*)::int AS count, min(created_at) AS at FROM turnlock.agent_sessions',
    );
    return { acts, startsAt, number, sessionId: session.sessionId, runId, rows };
  };
  const first = await play();
  await harness.reset();
  expect(await harness.query('SELECT 1 FROM turnlock.agent_sessions')).toEqual([]);
  expect(await play()).toEqual(first);
  expect(first).toMatchObject({ number: 1, rows: [{ count: 1, at: new Date('2030-01-01T09:30:00Z') }] });
  expect(first.acts).toHaveLength(1);
});

test('a harness beside it has a database, a clock and a seed of its own', async () => {
  const startsAt = new Date('2031-05-01T00:00:00Z');
  await using other = await openSessionHarness({ startsAt, seed: 2 });
  expect(other.clock.now()).toBe(startsAt.getTime());
  const there = await (await other.start({ agents: charging([]) })).runtime.createSession(owner);
  const here = await (await harness.start({ agents: charging([]) })).runtime.createSession(owner);
  expect(there.sessionId).not.toBe(here.sessionId);
  expect(await harness.query('SELECT session_id FROM turnlock.agent_sessions')).toEqual([
    { session_id: here.sessionId },
  ]);
  const [{ at }] = await other.query('SELECT turnlock.turnlock_now() AS at');
  expect(at).toEqual(startsAt);
});

test.each<[keyof typeof PROMISE_NAMES, string, string]>([
  [
    'lease',
    'UPDATE turnlock.agent_sessions SET lease_holder = gen_random_uuid(), lease_expires_at = now()',
    'session order 7',
  ],
  ['open', "UPDATE turnlock.agent_tool_executions SET status = 'PENDING'", 'charge is PENDING in session order 7'],
  ['version', 'UPDATE turnlock.agent_sessions SET version = version + 1', 'session order 7'],
  ['answered', "DELETE FROM turnlock.agent_turns WHERE role = 'tool'", 'call 0 of turn 1 in session order 7'],
  ['audit', "UPDATE turnlock.agent_transitions SET payload_digest = repeat('0', 64)", 'session order 7: HASH_DIFFERS'],
  ['audit', "UPDATE turnlock.agent_sessions SET current_state = 'PLANNING'", 'session order 7: SNAPSHOT_INVALID'],
])('%s: what breaks a promise is named, with the session', async (promise, statement, message) => {
  const { runtime } = await harness.start({ agents: charging([]) });
  const session = await runtime.createSession({ ...owner, externalId: 'order 7' });
  await (await session.send('charge me')).result();
  expect(await harness.promises()).toEqual([]);
  await harness.query('SET session_replication_role = replica');
  await harness.query(statement);
  await harness.query('SET session_replication_role = origin');
  expect(await harness.promises()).toContainEqual({ promise: PROMISE_NAMES[promise], message });
});

test('options that are not accepted are refused', async () => {
  const refused = { code: 'OPTIONS_INVALID' };
  await expect(openSessionHarness({ database: 'mysql' } as never)).rejects.toMatchObject(refused);
  await expect(openSessionHarness({ startsAt: new Date('never') })).rejects.toMatchObject(refused);
  await expect(openSessionHarness({ seed: -1 })).rejects.toMatchObject(refused);
  await expect(openSessionHarness({ sed: 1 } as never)).rejects.toMatchObject(refused);
  await expect(harness.start({ agents: [], fault: [] } as never)).rejects.toMatchObject(refused);
  const stall = { agents: [], faults: [{ point: 'beforeCommit', fault: 'stall' }] } as const;
  await expect(harness.start(stall)).rejects.toMatchObject(refused);
});
