import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allow, deny, requireApproval } from '../../index.ts';
import { checkPolicy, type PolicyCheck } from '../../testing/check-policy.ts';

interface Refund {
  order: string;
  cents: number;
}

type Paid = Map<string, number>;

/** A refund of more than 100 in all is one too many. */
function refunds(policy: PolicyCheck<Refund, Paid>['policy']): PolicyCheck<Refund, Paid> {
  return {
    policy,
    params: fc.record({ order: fc.constantFrom('1', '2'), cents: fc.constantFrom(40, 70) }),
    world: () => new Map(),
    apply: (paid, { order, cents }) => void paid.set(order, (paid.get(order) ?? 0) + cents),
    invariants: { 'no order gets more than 100': (paid) => [...paid.values()].every((cents) => cents <= 100) },
    seed: 1,
  };
}

const perCall = ({ cents }: Refund) => (cents <= 100 ? allow() : deny('too much'));
const inAll = ({ order, cents }: Refund, { world }: { world: Paid }) =>
  (world.get(order) ?? 0) + cents <= 100 ? allow() : deny('too much');

test('a limit that is held per call alone is found, in two calls, and played again', async () => {
  const { ok, failure } = await checkPolicy(refunds(perCall));
  expect(ok).toBe(false);
  expect(failure).toMatchObject({ invariant: 'no order gets more than 100', message: 'it does not hold' });
  expect(failure?.commands).toHaveLength(2);
  const again = await checkPolicy({ ...refunds(perCall), replay: failure?.replay ?? '' });
  expect(again.failure).toMatchObject({ commands: failure?.commands, timeline: failure?.timeline });
});

test('nothing is found where the policy looks at what was paid', async () => {
  expect(await checkPolicy(refunds(inAll))).toMatchObject({ ok: true, runs: 200, seed: 1, failure: null });
});

test('what a person approves runs, and what a policy throws at does not', async () => {
  const asks = await checkPolicy(refunds(() => requireApproval()));
  expect(asks.failure?.timeline.map(({ what }) => what)).toContain(
    'the policy says requireApproval, and a person approves it',
  );
  const throws = await checkPolicy(
    refunds(() => {
      throw new Error('no database');
    }),
  );
  expect(throws.ok).toBe(true);
});

test('what the policy said of the calls is counted: it allowed, denied, had a person asked, or threw', async () => {
  let judged = 0;
  const { played, text } = await checkPolicy({
    ...refunds(() => {
      judged += 1;
      if (judged % 4 === 0) throw new Error('no database');
      if (judged % 4 === 1) return undefined as never;
      return judged % 4 === 2 ? deny('no') : requireApproval();
    }),
    invariants: {},
  });
  const each = (rest: number) => Math.floor((judged + 4 - rest) / 4);
  expect(judged).toBeGreaterThan(200);
  expect(played).toEqual({
    calls: judged,
    allowed: 0,
    denied: each(2),
    approvalRequired: each(3),
    approved: expect.any(Number),
    failed: each(4) + each(1),
  });
  expect(played.approved).toBeGreaterThan(0);
  expect(played.approved).toBeLessThan(played.approvalRequired);
  expect(text).toMatch(/^Nothing was found in 200 runs\.\n {2}\d+ calls: 0 allowed, /);
});

test('calls that run are counted until something is found, and not those that make it shorter', async () => {
  let judged = 0;
  let judgedUntilFound = 0;
  const { played, text, failure } = await checkPolicy({
    ...refunds((params) => {
      judged += 1;
      return perCall(params);
    }),
    invariants: {
      'no order gets more than 100': (paid) => {
        const holds = [...paid.values()].every((cents) => cents <= 100);
        if (!holds && judgedUntilFound === 0) judgedUntilFound = judged;
        return holds;
      },
    },
  });
  expect(judged).toBeGreaterThan(judgedUntilFound);
  expect(played).toMatchObject({ calls: judgedUntilFound, allowed: judgedUntilFound });
  expect(text).toBe(failure?.text);
});

test.each([
  ['denies', () => deny('no'), { allowed: 0, approved: 0, failed: 0 }],
  ['throws', () => JSON.parse('no JSON'), { allowed: 0, denied: 0, approved: 0 }],
])('of a policy that always %s the text says first that no call ran', async (_, policy, counts) => {
  const { ok, played, text } = await checkPolicy(refunds(policy));
  expect(ok).toBe(true);
  expect(played).toMatchObject(counts);
  expect(text).toMatch(/^Nothing was found in 200 runs, but NO CALL RAN\.\n/);
});

test('what an invariant looks at is there when it looks, also where the world takes a moment', async () => {
  const apply: PolicyCheck<Refund, Paid>['apply'] = async (paid, { order, cents }) => {
    await Promise.resolve();
    paid.set(order, (paid.get(order) ?? 0) + cents);
  };
  const { failure } = await checkPolicy({ ...refunds(perCall), apply });
  expect(failure?.commands).toHaveLength(2);
});

test('an invariant that says neither that it holds nor that it does not is refused', async () => {
  const invariants = { 'it is looked up': async () => false };
  await expect(checkPolicy({ ...refunds(perCall), invariants } as never)).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringMatching(/"it is looked up" .*returns a Promise/),
  });
});

test('params that a policy or the world writes into are asked for as they were', async () => {
  const { failure } = await checkPolicy({
    ...refunds((params) => {
      params.cents -= 40;
      return allow();
    }),
    apply: (paid, params) => {
      paid.set(params.order, (paid.get(params.order) ?? 0) + params.cents);
      params.cents = 0;
    },
  });
  expect(failure?.commands).toHaveLength(2);
  for (const command of failure?.commands ?? []) expect(command).toMatch(/cents: [47]0 /);
});

test('a text that leads to no sequence of these params is refused', async () => {
  const { failure } = await checkPolicy(refunds(perCall));
  const refused = { code: 'OPTIONS_INVALID', message: expect.stringContaining('replay of checkPolicy') };
  const params = fc.constant({ order: '1', cents: 40 });
  for (const replay of [failure?.replay ?? '', '3:0:9999']) {
    await expect(checkPolicy({ ...refunds(perCall), params, replay })).rejects.toMatchObject(refused);
  }
});

test('a policy with a memory of its own, which says something else when it is asked again, is told as one', async () => {
  let asked = 0;
  const { failure } = await checkPolicy(refunds(() => (asked++ < 4 ? allow() : deny('later'))));
  expect(failure?.text).toContain('Played once more, below, it did not break');
});

test('a world of which nothing can be shown is judged like any other', async () => {
  const world = () => Object.assign(new Map(), { [inspect.custom]: () => JSON.parse('no JSON') });
  const { failure } = await checkPolicy({ ...refunds(perCall), world });
  expect(failure?.timeline.map(({ what }) => what)).toContain('the world: (cannot be shown)');
});

test('what is no option, or not of its kind, is refused at once', async () => {
  const refused = { code: 'OPTIONS_INVALID' };
  const check = refunds(inAll);
  await expect(checkPolicy({ ...check, rules: [] } as never)).rejects.toMatchObject(refused);
  await expect(checkPolicy({ ...check, policy: null } as never)).rejects.toMatchObject(refused);
  await expect(checkPolicy({ ...check, params: [] } as never)).rejects.toMatchObject(refused);
  await expect(checkPolicy({ ...check, invariants: null } as never)).rejects.toMatchObject(refused);
  await expect(checkPolicy({ ...check, numRuns: 1.5 })).rejects.toMatchObject(refused);
  await expect(checkPolicy({ ...check, replay: 'x' })).rejects.toMatchObject(refused);
  await expect(checkPolicy({ ...check, seed: 1.5 })).rejects.toMatchObject(refused);
  await expect(checkPolicy({ ...check, invariants: { held: true } } as never)).rejects.toMatchObject(refused);
});
