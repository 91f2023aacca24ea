import { describe, expect, test } from 'vitest';
import { grantLease, isLeaseLive, type LeaseClaim, type LeaseColumns } from '../../persistence/lease.ts';

const NOW = new Date('2026-11-29T12:00:00.000Z');
const LEASE_MS = 15_000;

const at = (ms: number) => new Date(NOW.getTime() + ms);
const free: LeaseColumns = { leaseHolder: null, leaseToken: 4, leaseExpiresAt: null, recoveries: 0 };
const live: LeaseColumns = { leaseHolder: 'ada', leaseToken: 4, leaseExpiresAt: at(1), recoveries: 1 };
const expired: LeaseColumns = { ...live, leaseExpiresAt: at(0) };

const acquire: LeaseClaim = { type: 'acquire', holder: 'bob', leaseMs: LEASE_MS };
const takeOver: LeaseClaim = { type: 'takeOver', holder: 'bob', leaseMs: LEASE_MS };
const hold: LeaseClaim = { type: 'hold', holder: 'ada', token: 4, leaseMs: LEASE_MS };
const raise: LeaseClaim = { type: 'raise' };
const none: LeaseClaim = { type: 'none' };

const bobs = { leaseHolder: 'bob', leaseToken: 5, leaseExpiresAt: at(LEASE_MS) };

/** Every claim on every lease: what the row holds afterwards, while work is left. */
const GRANTED: [string, LeaseColumns, string, LeaseClaim, LeaseColumns][] = [
  ['free', free, 'acquire', acquire, { ...bobs, recoveries: 0 }],
  ['expired', expired, 'acquire', acquire, { ...bobs, recoveries: 1 }],
  ['free', free, 'takeOver', takeOver, { ...bobs, recoveries: 0 }],
  ['expired', expired, 'takeOver', takeOver, { ...bobs, recoveries: 2 }],
  ['live', live, 'hold', hold, { ...live, leaseExpiresAt: at(LEASE_MS) }],
  ['expired', expired, 'hold', hold, { ...expired, leaseExpiresAt: at(LEASE_MS) }],
  ['free', free, 'raise', raise, { ...free, leaseToken: 5 }],
  ['live', live, 'raise', raise, { leaseHolder: null, leaseToken: 5, leaseExpiresAt: null, recoveries: 1 }],
  ['expired', expired, 'raise', raise, { leaseHolder: null, leaseToken: 5, leaseExpiresAt: null, recoveries: 1 }],
  ['free', free, 'none', none, free],
  ['live', live, 'none', none, live],
  ['expired', expired, 'none', none, expired],
];

/** What is refused, and with which code. */
const REFUSED: [string, LeaseColumns, string, LeaseClaim, string][] = [
  ['live', live, 'acquire', acquire, 'SESSION_BUSY'],
  ['live, its own', live, 'acquire', { ...acquire, holder: 'ada' }, 'SESSION_BUSY'],
  ['live', live, 'takeOver', takeOver, 'LEASE_HELD'],
  ['live, its own', live, 'takeOver', { ...takeOver, holder: 'ada' }, 'LEASE_HELD'],
  ['live', live, 'hold by another', { ...hold, holder: 'bob' }, 'TOKEN_STALE'],
  ['live', live, 'hold with an older token', { ...hold, token: 3 }, 'TOKEN_STALE'],
  ['live', live, 'hold with a token of the future', { ...hold, token: 5 }, 'TOKEN_STALE'],
  ['free', free, 'hold', hold, 'TOKEN_STALE'],
];

describe('grantLease', () => {
  test.each(GRANTED)('%s, %s', (_lease, lease, _claim, claim, wanted) => {
    expect(grantLease(lease, claim, NOW, false)).toEqual(wanted);
  });

  test.each(REFUSED)('a %s lease refuses %s', (_lease, lease, _title, claim, code) => {
    for (const rests of [false, true]) {
      expect(() => grantLease(lease, claim, NOW, rests)).toThrow(expect.objectContaining({ code }));
    }
  });

  test.each(GRANTED)(
    'at rest the lease is given back: %s',
    (_lease, lease, _title, claim, { leaseToken, recoveries }) => {
      expect(grantLease(lease, claim, NOW, true)).toEqual({
        leaseHolder: null,
        leaseToken,
        leaseExpiresAt: null,
        recoveries,
      });
    },
  );

  test('a token never falls, and rises with every grant', () => {
    for (const [, lease, , claim] of GRANTED) {
      const rises = claim.type !== 'hold' && claim.type !== 'none';
      expect(grantLease(lease, claim, NOW, false).leaseToken).toBe(lease.leaseToken + (rises ? 1 : 0));
    }
  });

  test('C14 who comes back after a takeover is refused, though the clock has not moved', () => {
    const taken = grantLease(expired, takeOver, NOW, false);
    expect(() => grantLease(taken, hold, NOW, false)).toThrow(
      expect.objectContaining({ code: 'TOKEN_STALE', details: { found: 4, wanted: 5 } }),
    );
  });

  test('what is refused says until when', () => {
    const until = expect.objectContaining({ message: expect.stringContaining('2026-11-29T12:00:00.001Z') });
    expect(() => grantLease(live, acquire, NOW, false)).toThrow(until);
    expect(() => grantLease(live, takeOver, NOW, false)).toThrow(until);
  });

  test('the columns that it was given stay as they were', () => {
    for (const [, lease, , claim] of GRANTED) {
      const before = structuredClone(lease);
      grantLease(lease, claim, NOW, false);
      expect(lease).toEqual(before);
    }
  });
});

describe('isLeaseLive', () => {
  test.each([
    ['no lease', null, false],
    ['one millisecond left', at(1), true],
    ['the moment of its expiry', at(0), false],
    ['past it', at(-1), false],
  ])('%s: %s', (_title, leaseExpiresAt, wanted) => {
    expect(isLeaseLive({ leaseExpiresAt }, NOW)).toBe(wanted);
  });
});
