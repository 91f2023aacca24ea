import { expect, test } from 'vitest';
import { scripted } from '../../../adapters/models/scripted.ts';
import { defineAgent, defineTool, ToolError } from '../../../index.ts';
import type { SessionHarness } from '../../../testing/harness/session-harness.ts';
import { PROMISE_NAMES } from '../../../testing/invariants/promise-names.ts';
import type { ProcessUnderTest } from '../../../testing/subject.ts';
import { type Act, charging, inputSchema, model, owner } from './charging.ts';

/** The tables that the suite needs. */
export const prepare = async (query: (text: string) => Promise<unknown>): Promise<void> =>
  void (await query('CREATE TABLE books (process int)'));

/** What a harness does on any database. It is handed a function, since the harness is there only once the tests run. */
export function describeSessionHarness(harness: () => SessionHarness): void {
  test('a process dies after the act, another one goes on: it acts again with the same key', async () => {
    const acts: Act[] = [];
    const agents = charging(acts);
    const first = await harness().start({ agents, faults: "crash at 'after the act'" });
    const session = await first.runtime.createSession(owner);
    await session.send('charge me');
    expect(await first.plan.struck).toMatchObject({ place: 'after the act' });
    const second = await harness().start({ agents });
    expect(await second.runtime.recover()).toEqual([]);
    const { sessionId } = session;
    expect(await harness().promises()).toEqual([
      { promise: PROMISE_NAMES.rests, message: `session ${sessionId} is EXECUTING_TOOL and owes work` },
    ]);
    await harness().jump(60_000);
    expect(await second.runtime.recover()).toMatchObject([{ sessionId, state: 'IDLE' }]);
    expect(acts.map(({ by }) => by)).toEqual([1, 2]);
    expect(new Set(acts.map(({ key }) => key)).size).toBe(1);
    expect(await harness().promises()).toEqual([]);
  });

  test('a paused process comes back when another one has gone on: it writes nothing any more', async () => {
    const acts: Act[] = [];
    const agents = charging(acts);
    const zombie = await harness().start({ agents, faults: "stall at 'after the act'" });
    const session = await zombie.runtime.createSession(owner);
    await session.send('charge me');
    await zombie.plan.struck;
    const second = await harness().start({ agents });
    await harness().jump(60_000);
    expect(await second.runtime.recover()).toMatchObject([{ state: 'IDLE' }]);
    zombie.plan.resume();
    await harness().quiet();
    const [{ status, attempt }] = await harness().query('SELECT status, attempt FROM turnlock.agent_tool_executions');
    expect({ status, attempt }).toEqual({ status: 'SUCCESS', attempt: 2 });
    expect(acts.map(({ by }) => by)).toEqual([1, 2]);
    expect(await harness().promises()).toEqual([]);
  });

  test('a lost answer to COMMIT is looked up at once: back-offs wait for no jump of the clock', async () => {
    const acts: Act[] = [];
    const faults = 'disconnect at commitSent #2; disconnect at beforeCommit #2; disconnect at afterStatement #2';
    const { runtime } = await harness().start({ agents: charging(acts), faults });
    const before = harness().clock.now();
    const run = await (await runtime.createSession(owner)).send('charge me');
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(harness().clock.now()).toBe(before);
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
      const { runtime } = await harness().start({ agents });
      const run = await (await runtime.createSession(owner)).send('go');
      await harness().jump(4_999);
      expect(calls).toBe(1);
      await harness().jump(60_000);
      expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect(calls).toBe(effect === 'readOnly' ? 2 : 1);
      await harness().reset();
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
    const first = await harness().start({ agents, faults: "crash at 'after the act'" });
    await (await first.runtime.createSession(owner)).send('go');
    await first.plan.struck;
    await harness().jump(60_000);
    const second = await harness().start({ agents });
    expect(await second.runtime.recover()).toMatchObject([{ state: 'IDLE' }]);
    expect(await harness().query('SELECT process FROM books')).toEqual([{ process: 2 }]);
  });

  test('a statement that is wrong is refused as the database says it', async () => {
    await expect(harness().query('SELECT process FROM boks')).rejects.toMatchObject({ code: '42P01' });
  });

  test('a worker finds what a dead process left, once the clock has passed its lease', async () => {
    const acts: Act[] = [];
    const agents = charging(acts);
    const first = await harness().start({ agents, faults: "crash at 'before the act'" });
    const session = await first.runtime.createSession(owner);
    await session.send('charge me');
    await first.plan.struck;
    const second = await harness().start({ agents });
    await second.runtime.start();
    await harness().jump(10_000);
    expect(acts).toEqual([]);
    await harness().jump(10_000);
    expect(await (await second.runtime.session(session)).status()).toMatchObject({ state: 'IDLE' });
    expect(acts.map(({ by }) => by)).toEqual([2]);
  });

  test('whoever waits for the run of a process that died, or follows it, is quiet, and hears of its end once another one took over', async () => {
    const acts: Act[] = [];
    const agents = charging(acts);
    const first = await harness().start({ agents, faults: "crash at 'after the act'" });
    const session = await first.runtime.createSession(owner);
    const message = { messageId: 'm1' };
    await session.send('charge me', message);
    await first.plan.struck;
    const [second, onlooker] = [await harness().start({ agents }), await harness().start({ agents })];
    const seen: string[] = [];
    const over = new AbortController();
    const follow = async (): Promise<void> => {
      const { signal } = over;
      for await (const followed of (await onlooker.runtime.session(session)).follow({ signal })) {
        if (followed.type === 'transition') seen.push(followed.transition.type);
      }
    };
    const following = follow();
    const result = (await (await second.runtime.session(session)).send('charge me', message)).result();
    await harness().quiet();
    await harness().jump(1_000);
    expect(acts.map(({ by }) => by)).toEqual([1]);
    await harness().jump(60_000);
    expect(await result).toMatchObject({ state: 'IDLE', reply: 'done' });
    await harness().quiet();
    expect(seen.at(-1)).toBe('model.replied');
    expect(acts.map(({ by }) => by)).toEqual([1, 2]);
    over.abort();
    await following;
  });

  test('a process that is killed from outside does nothing any more', async () => {
    const acts: Act[] = [];
    const agents = charging(acts);
    const first = await harness().start({ agents });
    const session = await first.runtime.createSession(owner);
    await session.send('charge me');
    await first.crash();
    const before = acts.length;
    await harness().jump(60_000);
    expect(acts).toHaveLength(before);
    const second = await harness().start({ agents });
    expect(await second.runtime.recover()).toMatchObject([{ state: 'IDLE' }]);
    expect(await harness().executions()).toMatchObject([
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
    const { runtime } = await harness().start({
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
    const [first, second] = [await harness().start({ agents }), await harness().start({ agents })];
    const { sessionId, tenantId } = await first.runtime.createSession(owner);
    const options = { messageId: 'm1' };
    await (await first.runtime.session({ sessionId, tenantId })).send('go', options);
    const run = await (await second.runtime.session({ sessionId, tenantId })).send('go', options);
    const result = run.result();
    go();
    expect(await result).toMatchObject({ state: 'IDLE', reply: 'done' });
  });
}
