import { describe, expect, test } from 'vitest';
import { isTurnlockError } from '../errors.ts';
import { LIMITS, type Limits, resolveLimits } from '../limits.ts';

const NAMES = Object.keys(LIMITS) as (keyof Limits)[];

function refusalOf(given: object): unknown {
  try {
    resolveLimits(given as Partial<Limits>);
  } catch (error) {
    return error;
  }
  return null;
}

describe('resolveLimits', () => {
  test('nothing given is the defaults, which are in their own ranges', () => {
    expect(resolveLimits()).toEqual(LIMITS);
    expect(resolveLimits({ ...LIMITS })).toEqual(LIMITS);
  });

  test('undefined takes the default', () => {
    expect(resolveLimits({ maxDepth: undefined }).maxDepth).toBe(LIMITS.maxDepth);
  });

  test('the heartbeat follows the lease unless it is given', () => {
    expect(resolveLimits({ leaseMs: 1_000 }).heartbeatMs).toBe(333);
    expect(resolveLimits({ leaseMs: 1_000, heartbeatMs: 500 }).heartbeatMs).toBe(500);
  });

  test('a heartbeat that is not below the lease is refused', () => {
    expect(refusalOf({ leaseMs: 1_000, heartbeatMs: 1_000 })).toMatchObject({ code: 'OPTIONS_INVALID' });
    expect(refusalOf({ heartbeatMs: LIMITS.leaseMs })).toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  test.each(NAMES)('%s takes no fraction, no negative, no text, no NaN, no infinity', (name) => {
    for (const value of [1.5, -1, '5', Number.NaN, Number.POSITIVE_INFINITY, null, 5n]) {
      const error = refusalOf({ [name]: value });
      expect(isTurnlockError(error, 'OPTIONS_INVALID')).toBe(true);
      expect(error).toMatchObject({ message: expect.stringContaining(name), details: { limit: name } });
    }
  });

  test.each(NAMES.filter((name) => name.endsWith('Ms')))('%s fits a timer', (name) => {
    expect(refusalOf({ [name]: 2 ** 31 })).toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  test('a name that is no limit is refused, with the ones that are', () => {
    expect(refusalOf({ maxBites: 1 })).toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining('maxMessageBytes'),
    });
    expect(refusalOf({ toString: 1 })).toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  test('the defaults cannot be changed from outside', () => {
    expect(Object.isFrozen(LIMITS)).toBe(true);
    const limits = resolveLimits();
    limits.maxDepth = 1;
    expect(resolveLimits().maxDepth).toBe(LIMITS.maxDepth);
  });
});
