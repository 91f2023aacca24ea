import { TurnlockError } from '../../errors.ts';
import type { Retry, RetryBackoff } from './tool.contract.ts';

const BACKOFF: Readonly<RetryBackoff> = Object.freeze({ initialMs: 1_000, factor: 2, maxMs: 60_000, jitter: 0.5 });

/** A timer holds no longer time. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const RANGES: Record<keyof RetryBackoff, { min: number; max: number }> = {
  initialMs: { min: 0, max: MAX_TIMER_MS },
  factor: { min: 1, max: 1_000 },
  maxMs: { min: 0, max: MAX_TIMER_MS },
  jitter: { min: 0, max: 1 },
};

/** `retry` of the tool, with its defaults; `null` where it declares none. @throws DEFINITION_INVALID. */
export function checkRetry(
  tool: string,
  retry: { attempts: number; backoff?: Partial<RetryBackoff> } | undefined,
): Retry | null {
  if (retry === undefined) return null;
  check(tool, isObject(retry), 'retry', 'an object');
  check(tool, hasOnly(retry, ['attempts', 'backoff']), 'retry', 'only attempts, backoff');
  const { attempts, backoff: given = {} } = retry;
  const isCount = Number.isInteger(attempts) && attempts >= 1 && attempts <= 1_000;
  check(tool, isCount, 'retry.attempts', 'a whole number from 1 to 1000');
  check(tool, isObject(given), 'retry.backoff', 'an object');
  check(tool, hasOnly(given, Object.keys(BACKOFF)), 'retry.backoff', `only ${Object.keys(BACKOFF).join(', ')}`);
  const backoff = { ...BACKOFF };
  for (const [name, { min, max }] of Object.entries(RANGES) as [keyof RetryBackoff, (typeof RANGES)['factor']][]) {
    const value = given[name] ?? BACKOFF[name];
    const fits = typeof value === 'number' && value >= min && value <= max;
    check(tool, fits, `retry.backoff.${name}`, `a number from ${min} to ${max}`);
    backoff[name] = value;
  }
  return { attempts, backoff };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasOnly(value: object, names: string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name));
}

function check(tool: string, holds: boolean, option: string, wanted: string): void {
  if (holds) return;
  throw new TurnlockError('DEFINITION_INVALID', {
    message: `tool option not accepted: ${option} of ${tool} (wanted ${wanted})`,
  });
}
