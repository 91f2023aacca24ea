import { describe, expect, test } from 'vitest';
import type { Seen, SeenExecution } from '../../../testing/subject.ts';
import { ledgerInvariants } from '../../../testing/world/ledger-invariants.ts';
import { WorldLedger } from '../../../testing/world/world-ledger.ts';

describe('a ledger', () => {
  test('does what it is asked, and says whether it was new', () => {
    const ledger = new WorldLedger();
    expect(ledger.act({ what: 'paid 5', key: 'a', details: { cents: 5 } })).toBe(true);
    expect(ledger.act({ what: 'paid 5 again', key: 'a' })).toBe(false);
    expect(ledger.act({ what: 'paid 7' })).toBe(true);
    expect(ledger.act({ what: 'paid 7' })).toBe(true);
    expect(ledger.actsOf('a')).toEqual([
      { what: 'paid 5', key: 'a', details: { cents: 5 } },
      { what: 'paid 5 again', key: 'a', details: null },
    ]);
    expect(ledger.acts).toHaveLength(4);
    expect(ledger.repeats).toEqual([]);
  });

  test('that is idempotent does nothing with a key that it has seen', () => {
    const ledger = new WorldLedger({ isIdempotent: true });
    expect(ledger.act({ what: 'paid 5', key: 'a' })).toBe(true);
    expect(ledger.act({ what: 'paid 5 again', key: 'a' })).toBe(false);
    expect(ledger.act({ what: 'paid 5', key: 'b' })).toBe(true);
    expect(ledger.act({ what: 'no key' })).toBe(true);
    expect(ledger.act({ what: 'no key' })).toBe(true);
    expect(ledger.acts.map(({ what }) => what)).toEqual(['paid 5', 'paid 5', 'no key', 'no key']);
    expect(ledger.repeats).toEqual([{ what: 'paid 5 again', key: 'a', details: null }]);
  });
});

describe('the invariants of a ledger', () => {
  const nobody = { approvedBy: null, settledBy: null, answeredBy: null, errorCode: null };
  const invariants = ledgerInvariants((world: { bank: WorldLedger }) => world.bank);

  function execution(key: string, status: SeenExecution['status'], isUnknown = false): SeenExecution {
    const ids = { tenantId: 't', userId: 'u', sessionId: 's', executionId: key, idempotencyKey: key };
    return { ...ids, toolName: 'pay', params: {}, status, isUnknown, output: null, ...nobody };
  }

  function seen(keys: string[], executions: SeenExecution[]): Seen<{ bank: WorldLedger }> {
    const bank = new WorldLedger();
    for (const key of keys) bank.act({ what: `paid ${key}`, key });
    return { world: { bank }, executions };
  }

  test('hold where each success acted once, and nothing else did', () => {
    const all = seen(
      ['a', 'b'],
      [
        execution('a', 'SUCCESS'),
        execution('b', 'RUNNING', true),
        execution('c', 'FAILED'),
        execution('d', 'TIMED_OUT', true),
        { ...execution('e', 'SUCCESS'), answeredBy: 'a' },
      ],
    );
    for (const holds of Object.values(invariants)) expect(holds(all)).toBe(true);
  });

  test.each([
    ['no key acts twice', seen(['a', 'a'], [execution('a', 'SUCCESS')]), '2 acts with one key: paid a, paid a'],
    [
      'every success has its act',
      seen([], [execution('a', 'SUCCESS')]),
      'pay succeeded, and the world knows nothing of it',
    ],
    ['what failed has no act', seen(['a'], [execution('a', 'FAILED')]), 'pay failed, and the world has done it'],
  ])('%s: only that one is broken', (name, all, says) => {
    for (const [one, holds] of Object.entries(invariants)) expect(holds(all), one).toBe(one === name ? says : true);
  });

  test('acts without a key are never the same act', () => {
    const bank = new WorldLedger();
    bank.act({ what: 'paid' });
    bank.act({ what: 'paid' });
    expect(invariants['no key acts twice']?.({ world: { bank }, executions: [] })).toBe(true);
  });

  test('are asked of the executions of the ledger, by the key with which they act', () => {
    const byOrder = ledgerInvariants((bank: WorldLedger) => bank, {
      isOf: ({ toolName }) => toolName === 'pay',
      keyOf: ({ params }) => (params as { order: string }).order,
    });
    const bank = new WorldLedger();
    bank.act({ what: 'paid order 7', key: '7' });
    const paid = { ...execution('a', 'SUCCESS'), params: { order: '7' } };
    const looked = { ...execution('b', 'SUCCESS'), toolName: 'look', params: { order: '8' } };
    expect(byOrder['every success has its act']?.({ world: bank, executions: [paid, looked] })).toBe(true);
    const unpaid = { ...paid, params: { order: '8' } };
    expect(byOrder['every success has its act']?.({ world: bank, executions: [unpaid] })).toMatch(/^pay succeeded/);
  });
});
