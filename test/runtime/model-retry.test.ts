import { describe, expect, test } from 'vitest';
import { TurnlockError } from '../../errors.ts';
import { modelRetryInMs } from '../../runtime/model-retry.ts';

const half = { environment: { random: () => 0.5 }, limits: { modelBackoffMs: 500 } };

function askedFor(retryAfterMs: unknown): TurnlockError {
  return new TurnlockError('MODEL_FAILED', { message: 'model call failed: m', details: { retryAfterMs } });
}

describe('the pause before the next attempt of a model call', () => {
  test('doubles', () => {
    expect([1, 2, 3].map((attempt) => modelRetryInMs(half, attempt, new Error('no')))).toEqual([500, 1_000, 2_000]);
  });

  test('is no shorter than the provider asks, and longer by chance', () => {
    expect(modelRetryInMs(half, 1, askedFor(7_000))).toBe(7_250);
    expect(modelRetryInMs({ ...half, environment: { random: () => 0 } }, 1, askedFor(7_000))).toBe(7_000);
  });

  test('is the longer one of both', () => {
    expect(modelRetryInMs(half, 4, askedFor(100))).toBe(4_000);
  });

  test('is bounded, whatever the provider asks', () => {
    expect(modelRetryInMs(half, 1, askedFor(86_400_000))).toBe(600_250);
  });

  test.each([undefined, null, 'soon', Number.NaN, -1, 0])('ignores %s', (asked) => {
    expect(modelRetryInMs(half, 1, askedFor(asked))).toBe(500);
  });
});
