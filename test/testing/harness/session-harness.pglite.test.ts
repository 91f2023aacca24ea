import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../../../testing/harness/session-harness.ts';
import { PROMISE_NAMES } from '../../../testing/invariants/promise-names.ts';
import { type Act, charging, owner } from './charging.ts';
import { describeSessionHarness, prepare } from './session-harness-suite.ts';

let harness: SessionHarness;
beforeAll(async () => {
  harness = await openSessionHarness({ prepare });
});
afterEach(() => harness.reset());
afterAll(() => harness.close());

describeSessionHarness(() => harness);

test('ids, numbers and the clock are the same after a reset, and nothing is left', async () => {
  const play = async () => {
    const acts: Act[] = [];
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
  const other = await openSessionHarness({ startsAt, seed: 2 });
  expect(other.clock.now()).toBe(startsAt.getTime());
  const there = await (await other.start({ agents: charging([]) })).runtime.createSession(owner);
  const here = await (await harness.start({ agents: charging([]) })).runtime.createSession(owner);
  expect(there.sessionId).not.toBe(here.sessionId);
  expect(await harness.query('SELECT session_id FROM turnlock.agent_sessions')).toEqual([
    { session_id: here.sessionId },
  ]);
  const [{ at }] = await other.query('SELECT turnlock.turnlock_now() AS at');
  expect(at).toEqual(startsAt);
  await other.close();
  const closed = { code: 'RUNTIME_CLOSED' };
  await expect(other.start({ agents: charging([]) })).rejects.toMatchObject(closed);
  await expect(other.query('SELECT 1')).rejects.toMatchObject(closed);
  await expect(other.jump(1)).rejects.toMatchObject(closed);
  await expect(other.quiet()).rejects.toMatchObject(closed);
  await expect(other.promises()).rejects.toMatchObject(closed);
  await expect(other.executions()).rejects.toMatchObject(closed);
  await expect(other.reset()).rejects.toMatchObject(closed);
  await other.close();
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
  for (const faults of ['stall at beforeCommit', 'stall at any #2'] as const) {
    await expect(harness.start({ agents: charging([]), faults })).rejects.toMatchObject(refused);
  }
});

test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 1e18, '5' as never])(
  'a jump of %s is refused, and the clock stands where it stood',
  async (ms) => {
    const before = harness.clock.now();
    await expect(harness.jump(ms)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    expect(harness.clock.now()).toBe(before);
    const [{ at }] = await harness.query('SELECT turnlock.turnlock_now() AS at');
    expect(at).toEqual(new Date(before));
  },
);

test.each([
  5,
  [null],
  [{ point: 'commit', fault: 'crash' }],
  [{ point: 'place', fault: 'kill' }],
  [{ point: 'place', place: 5, fault: 'crash' }],
  [{ point: 'place', fault: 'crash', occurrence: 0 }],
  [{ point: 'place', fault: 'crash', where: 'there' }],
])('what is no fault would never strike, and is refused: %j', async (faults) => {
  const start = harness.start({ agents: charging([]), faults: faults as never });
  await expect(start).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringMatching(/^fault not accepted: /),
  });
});

test('who starts a process while the harness is reset or closed is told so', async () => {
  const other = await openSessionHarness();
  for (const ends of ['reset', 'close'] as const) {
    const start = other.start({ agents: charging([]) });
    start.catch(() => undefined);
    await other[ends]();
    await expect(start).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
  }
});
