import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scripted } from '../../../adapters/models/scripted.ts';
import { defineAgent, defineTool } from '../../../index.ts';
import { checkToolPolicy } from '../../../testing/check-tool-policy.ts';
import { PgliteLoan } from '../../../testing/database/pglite-loan.ts';
import { openSessionHarness } from '../../../testing/harness/session-harness.ts';
import { PROMISE_NAMES } from '../../../testing/invariants/promise-names.ts';
import { refundCheck } from '../scene.ts';

/** A check of a tool that acts inside the commit; `hangs`: once it is in there it never comes back. */
function bookCheck(hangs: boolean) {
  return {
    world: () => null,
    tools: () => [
      defineTool({
        name: 'book',
        description: 'Books.',
        inputSchema: z.object({}),
        effect: 'transactional',
        async execute(_params, { transaction, signal }) {
          await transaction.query('SELECT 1');
          // Not even its time-out is heard of: the signal is not looked at, and nothing else is either.
          if (hangs) await new Promise(() => signal.aborted);
          return null;
        },
      }),
    ],
    calls: { book: fc.constant({}) },
    invariants: {},
    numRuns: 2,
    seed: 1,
  };
}

test('a transactional tool that hangs is found, and the next check has a database that nobody holds', async () => {
  const { ok, failure } = await checkToolPolicy(bookCheck(true));
  expect(ok).toBe(false);
  expect(failure).toMatchObject({
    invariant: PROMISE_NAMES.rests,
    message: expect.stringContaining('transactional tool'),
  });
  expect(failure?.commands).toHaveLength(1);
  expect(await checkToolPolicy(bookCheck(false))).toMatchObject({ ok: true, runs: 2 });
});

test('checks that run at the same time do not meet', async () => {
  const checks = [refundCheck(true), refundCheck(true)].map((check) =>
    checkToolPolicy({ ...check, numRuns: 3, seed: 1 }),
  );
  for (const report of await Promise.all(checks)) expect(report.failure?.text).toBeUndefined();
});

test('one loan has an instance to itself; given back it is the next one’s', async () => {
  const [first, second] = [new PgliteLoan(), new PgliteLoan()];
  const [one, other] = await Promise.all([first.database(), second.database()]);
  expect(other).not.toBe(one);
  expect(await first.database()).toBe(one);
  first.giveBack();
  first.giveBack();
  const third = new PgliteLoan();
  await Promise.resolve();
  expect(await third.database()).toBe(one);
  const fourth = new PgliteLoan();
  expect([one, other]).not.toContain(await fourth.database());
  for (const loan of [second, third, fourth]) loan.giveBack();
});

test('a harness whose tool never lets go of the connection has another database after a reset', async () => {
  await using harness = await openSessionHarness();
  const { tools } = bookCheck(true);
  const model = scripted([{ toolCalls: [{ toolName: 'book', input: {} }] }, 'done']);
  const agents = [defineAgent({ name: 'books', instructions: 'Book.', model, tools: tools() })] as const;
  const owner = { agent: 'books', tenantId: 'acme', userId: 'ann' } as const;
  const first = await harness.start({ agents });
  await (await first.runtime.createSession(owner)).send('go');
  await harness.quiet();
  await harness.reset();
  const second = await harness.start({ agents });
  await second.runtime.createSession(owner);
  expect(await harness.query('SELECT count(*)::int AS count FROM turnlock.agent_sessions')).toEqual([{ count: 1 }]);
});
