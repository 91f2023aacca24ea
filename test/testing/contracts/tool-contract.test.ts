import { expect, test } from 'vitest';
import { z } from 'zod';
import { allow, deny } from '../../../adapters/tools/policy.ts';
import { cannotTell, done, notDone } from '../../../adapters/tools/reconciliation.ts';
import type { Tool } from '../../../adapters/tools/tool.contract.ts';
import { toolContract } from '../../../testing/contracts/tool-contract.ts';
import { eachCaseCanFail } from './broken-cases.ts';
import { type Bank, contractOf, idempotent, readOnly, reconcilable } from './sound-tools.ts';

type Change = (bank: Bank, sound: Tool) => Partial<Tool>;

/** The suite over a tool that differs from a sound one. */
function over(make: (bank: Bank) => Tool, change: Change) {
  const changed = (bank: Bank) => {
    const sound = make(bank);
    return { ...sound, ...change(bank, sound) };
  };
  return () => toolContract({ ...contractOf(changed), patienceMs: 20 });
}

const titlesOf = (make: (bank: Bank) => Tool) => toolContract(contractOf(make)).map(({ title }) => title);

let made = 0;

/** A number that nobody had before. */
function next(): number {
  made += 1;
  return made;
}

const anything = z.unknown() as unknown as Tool['inputSchema'];

eachCaseCanFail([...new Set([idempotent, reconcilable, readOnly].flatMap(titlesOf))], {
  'is one that an agent takes': over(idempotent, () => ({ name: 'pay back' })),
  'says its input as JSON Schema, the same each time': over(idempotent, () => ({
    inputJsonSchema: { type: 'object', required: [`order-${next()}`] },
  })),
  'takes valid params, and makes the same of them each time': over(idempotent, () => ({
    inputSchema: z.unknown().transform(() => next()) as unknown as Tool['inputSchema'],
  })),
  'refuses params that do not fit': over(idempotent, () => ({ inputSchema: anything })),
  'makes its business key of the params alone': over(idempotent, () => ({
    once: { per: 'tenant', shareAcrossUsers: false, key: () => `order-${next()}` },
  })),
  'says the same cost for the same params': over(idempotent, () => ({ cost: () => next() })),
  'judges any params, and the same call the same way': over(idempotent, () => ({
    policy: () => (next() % 2 === 0 ? allow() : deny('no')),
  })),
  'returns what can be stored, and what it promises': over(idempotent, () => ({
    execute: async () => ({ paid: new Date(0) }),
  })),
  'stops soon after its signal aborts': over(idempotent, (bank) => ({ execute: () => bank.pay(1, null) })),
  'does not act': over(readOnly, (bank) => ({
    execute: async () => ({ ...(await bank.pay(1, null)), order: '1' }),
  })),
  'acts once for one key, however often it is called': over(idempotent, (bank) => ({
    execute: () => bank.pay(1, null),
  })),
  'acts once for one key, where two attempts are at work at once': over(idempotent, (bank) => ({
    execute: async (_, { idempotencyKey: key }) => {
      if (bank.payments.has(key)) return { paid: 1 };
      await Promise.resolve();
      bank.payments.set(key, 1);
      return await bank.pay(1, null);
    },
  })),
  'says of a call that was never made that it is not done, or that it cannot tell': over(reconcilable, () => ({
    reconcile: () => done({ paid: 1 }),
  })),
  'says of a call that has returned that it is done, or that it cannot tell': over(reconcilable, () => ({
    reconcile: () => notDone(),
  })),
});

test.each<[string, Change, RegExp]>([
  ['an answer that is none', () => ({ reconcile: () => ({ type: 'maybe' }) }), /the answer \{ type: 'maybe' \}/],
  ['an act', (bank) => ({ reconcile: () => bank.pay(1, null).then(() => cannotTell()) }), /it has acted/],
])('reconcile is found out for %s', async (_, change, found) => {
  const [unmade] = over(reconcilable, change)().filter(({ title }) =>
    title.startsWith('says of a call that was never'),
  );
  await expect(unmade?.run()).rejects.toThrow(found);
});

test('a failure tells the simplest params, and the seed that gives them again', async () => {
  const cases = over(idempotent, (_, sound) => ({
    cost: (params) => ((params as { cents: number }).cents > 100 ? -1 : (sound.cost?.(params) ?? 0)),
  }))();
  const cost = cases.find(({ title }) => title.startsWith('says the same cost'));
  await expect(cost?.run()).rejects.toThrow(
    /wanted a whole number from 0 on.*, for \{ order: '1', cents: 101 \} by seed 1\)/s,
  );
});

test('a tool that does nothing for any of the params is no proof', async () => {
  const cases = over(idempotent, () => ({
    execute: () => {
      throw new Error('the bank is closed');
    },
  }))();
  for (const title of [
    'returns what can be stored, and what it promises',
    'acts once for one key, however often it is called',
  ]) {
    await expect(cases.find((one) => one.title === title)?.run()).rejects.toThrow(/none of 20 params/);
  }
});

test('which cases there are follows from what the tool declares and the test can do', () => {
  const { acts: _, silence: __, ...less } = contractOf(idempotent);
  const count = (make: (bank: Bank) => Tool) => titlesOf(make).length;
  expect([idempotent, reconcilable, readOnly].map(count)).toEqual([11, 8, 7]);
  expect(toolContract({ ...less, invalidParams: null })).toHaveLength(7);
  expect(count((bank) => ({ ...idempotent(bank), effect: 'transactional' }))).toBe(7);
  expect(count((bank) => ({ ...idempotent(bank), isQuestion: true }))).toBe(7);
});

test('a name that is no option is refused', () => {
  expect(() => toolContract({ ...contractOf(idempotent), runs: 5 } as never)).toThrow(
    expect.objectContaining({ code: 'OPTIONS_INVALID' }),
  );
});

test.each([0, -1, 1.5, Number.NaN])('%s runs try nothing, and are refused', (numRuns) => {
  expect(() => toolContract({ ...contractOf(idempotent), numRuns })).toThrow(
    expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining('numRuns') }),
  );
});
