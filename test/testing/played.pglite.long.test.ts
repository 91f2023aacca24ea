import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, deny, done, requireApproval, type Tool } from '../../index.ts';
import { checkToolPolicy, type ToolPolicyCheck } from '../../testing/check-tool-policy.ts';
import type { PlayedTool } from '../../testing/report/played-tools.ts';
import type { ProcessUnderTest } from '../../testing/subject.ts';
import { params, refundCheck } from './scene.ts';

const inputSchema = z.object({ order: z.string(), cents: z.int() });

/** A tool that does nothing, and comes to two places on the way. */
function refund(process: ProcessUnderTest) {
  return {
    name: 'refund',
    description: 'Does nothing.',
    inputSchema,
    effect: 'idempotent' as const,
    execute: async () => {
      await process.at('before');
      await process.at('after');
      return null;
    },
  };
}

/** A check of it, or of what is made out of it, beside a tool that no plan of these tests asks for. */
function checkOf(toolOf: (process: ProcessUnderTest) => Tool): ToolPolicyCheck<null> {
  return {
    world: () => null,
    tools: (_, process) => [toolOf(process), defineTool({ ...refund(process), name: 'charge' })],
    calls: { refund: params, charge: params },
    invariants: {},
  };
}

const plain = (process: ProcessUnderTest) => defineTool(refund(process));
const ask = {
  type: 'message',
  session: 1,
  process: 1,
  replies: [[{ tool: 'refund', params: { order: '1', cents: 5 } }]],
};
const strike = (fault: string, occurrence: number) => ({ type: 'fault', fault, point: 'place', occurrence });
const planOf = (commands: object[]) => JSON.stringify({ form: 1, ids: 7, order: 0, commands });

const zeros = { calls: 0, attempts: 0, reconciles: 0, succeeded: 0, answered: 0, failed: 0, notRun: {}, unknown: 0 };
const noFaults = { crash: 0, stall: 0, disconnect: 0, timeout: 0 };

const throws = () => {
  throw new Error('out of order');
};

test.each<[string, (process: ProcessUnderTest) => Tool, object[], Partial<PlayedTool>]>([
  ['that runs', plain, [ask], { attempts: 1, succeeded: 1 }],
  [
    'that a policy denies',
    (own) => defineTool({ ...refund(own), policy: () => deny('no') }),
    [ask],
    { notRun: { POLICY_DENIED: 1 } },
  ],
  [
    'at which a policy throws',
    (own) => defineTool({ ...refund(own), policy: throws }),
    [ask],
    { notRun: { POLICY_FAILED: 1 } },
  ],
  [
    'that a person denies',
    (own) => defineTool({ ...refund(own), policy: () => requireApproval() }),
    [ask, { type: 'decide', which: 1, does: 'deny' }],
    { notRun: { APPROVAL_DENIED: 1 } },
  ],
  [
    'that a person approves',
    (own) => defineTool({ ...refund(own), policy: () => requireApproval() }),
    [ask],
    { attempts: 1, succeeded: 1 },
  ],
  [
    'whose key is taken',
    (own) => defineTool({ ...refund(own), once: { per: 'tenant', key: ({ order }) => order } }),
    [ask, ask],
    { calls: 2, attempts: 1, succeeded: 1, answered: 1 },
  ],
  ['that throws', (own) => defineTool({ ...refund(own), execute: throws }), [ask], { attempts: 1, failed: 1 }],
  ['that runs again', plain, [strike('crash', 2), ask], { attempts: 2, succeeded: 1 }],
  [
    'of which nobody knows',
    (own) => defineTool({ ...refund(own), effect: 'nonRepeatable' }),
    [strike('crash', 2), ask],
    { attempts: 1, unknown: 1 },
  ],
  [
    'of which its tool knows',
    (own) => defineTool({ ...refund(own), effect: 'reconcilable', reconcile: () => done(null) }),
    [strike('crash', 2), ask],
    { attempts: 1, reconciles: 1, succeeded: 1 },
  ],
])('a call %s is counted as that', async (_, toolOf, commands, counted) => {
  const { ok, played } = await checkToolPolicy({ ...checkOf(toolOf), replay: planOf(commands) });
  expect(ok).toBe(true);
  expect(played.tools).toEqual({ refund: { ...zeros, calls: 1, ...counted }, charge: zeros });
});

test.each(['crash', 'stall', 'disconnect', 'timeout'])('a %s counts where it strikes', async (fault) => {
  const check = checkOf(plain);
  const struck = await checkToolPolicy({ ...check, replay: planOf([strike(fault, 2), ask]) });
  expect(struck.played.faults).toEqual({ ...noFaults, [fault]: 1 });
  const missed = await checkToolPolicy({ ...check, replay: planOf([strike(fault, 3), ask]) });
  expect(missed.played.faults).toEqual(noFaults);
});

test('a tool that never ran, as no params of its arbitrary fit, is told first', async () => {
  const calls = { refund: fc.constant({ order: 5 }), charge: params };
  const { ok, played, text } = await checkToolPolicy({ ...checkOf(plain), calls, numRuns: 12, seed: 1 });
  expect(ok).toBe(true);
  const { calls: asked } = played.tools.refund ?? zeros;
  expect(asked).toBeGreaterThan(2);
  expect(played.tools.refund).toEqual({ ...zeros, calls: asked, notRun: { PARAMS_INVALID: asked } });
  expect(played.tools.charge?.succeeded).toBeGreaterThan(0);
  expect(text).toMatch(/^Nothing was found in 12 runs, but refund NEVER RAN\.\n/);
  expect(text).toContain(`\n  refund: ${asked} calls, 0 attempts; `);
});

test('one seed gives the same counts, and what makes a failure shorter is not in them', async () => {
  const check = { ...refundCheck(false), numRuns: 100, seed: 7 };
  const { failure, runs, played, text } = await checkToolPolicy(check);
  expect(text).toBe(failure?.text);
  expect(runs).toBeGreaterThan(1);
  const { played: asFound } = await checkToolPolicy({ ...check, endOnFailure: true });
  expect(played).toEqual(asFound);
  // Those before it, and the one that was found.
  const { played: before } = await checkToolPolicy({ ...check, numRuns: runs - 1 });
  const attemptsOf = ({ tools }: typeof played) => tools.refund?.attempts ?? 0;
  expect(attemptsOf(before)).toBeGreaterThan(0);
  expect(attemptsOf(played)).toBeGreaterThan(attemptsOf(before));
});

test('a run that breaks something before its end is counted as far as it came', async () => {
  const invariants = {
    'nothing is asked for': ({ executions }: { executions: readonly unknown[] }) => executions.length === 0,
  };
  const check = { ...checkOf(plain), invariants, everyStep: true };
  const { runs, played } = await checkToolPolicy({ ...check, replay: planOf([ask, ask, ask]) });
  expect(runs).toBe(1);
  expect(played.tools.refund).toEqual({ ...zeros, calls: 1, attempts: 1, succeeded: 1 });
});
