import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES, type ErrorCode, isTurnlockError, TurnlockError } from '../errors.ts';

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];

describe('TurnlockError', () => {
  test.each(CODES)('%s takes category, retryable and hint from its code', (code) => {
    const error = new TurnlockError(code, { message: 'it happened' });
    const { category, retryable, hint } = ERROR_CODES[code];
    expect(error).toMatchObject({ name: 'TurnlockError', code, category, retryable, hint, details: {} });
  });

  test('is an Error with a stack', () => {
    const error = new TurnlockError('SESSION_BUSY', { message: 'session is busy: s1' });
    expect(error).toBeInstanceOf(Error);
    expect(error.stack).toContain('errors.test.ts');
    expect(String(error)).toBe('TurnlockError: session is busy: s1.');
  });

  test('ends its message with a full stop, once', () => {
    const messageOf = (message: string) => new TurnlockError('SESSION_BUSY', { message }).message;
    expect(messageOf('busy (found a run)')).toBe('busy (found a run).');
    expect(messageOf('busy.')).toBe('busy.');
    expect(messageOf('busy?')).toBe('busy?');
  });

  test('hint and retryable of one error override those of its code', () => {
    const error = new TurnlockError('MODEL_FAILED', { message: 'no', hint: 'Do this.', retryable: false });
    expect(error).toMatchObject({ hint: 'Do this.', retryable: false, category: 'work' });
  });

  test('keeps its cause, also one that is null', () => {
    const cause = new Error('inner');
    expect(new TurnlockError('TOOL_FAILED', { message: 'no', cause }).cause).toBe(cause);
    expect(new TurnlockError('TOOL_FAILED', { message: 'no', cause: null }).cause).toBeNull();
    expect('cause' in new TurnlockError('TOOL_FAILED', { message: 'no' })).toBe(false);
  });

  test('toJSON says all but stack and cause', () => {
    const cause = new Error('secret of the cause');
    const error = new TurnlockError('SESSION_BUSY', {
      message: 'session is busy',
      details: { sessionId: 's1' },
      cause,
    });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: 'SESSION_BUSY',
      category: 'conflict',
      retryable: true,
      message: 'session is busy.',
      hint: ERROR_CODES.SESSION_BUSY.hint,
      details: { sessionId: 's1' },
    });
  });

  test('prints code and hint, and no inner symbols', () => {
    const printed = inspect(new TurnlockError('SESSION_BUSY', { message: 'session is busy' }));
    expect(printed).toContain("code: 'SESSION_BUSY'");
    expect(printed).toContain('hint:');
    expect(printed).not.toContain('Symbol');
  });
});

describe('isTurnlockError', () => {
  test('tells ours from others, whatever they are', () => {
    expect(isTurnlockError(new TurnlockError('SESSION_BUSY', { message: 'no' }))).toBe(true);
    for (const other of [null, undefined, 'SESSION_BUSY', 7, {}, new Error('no'), { code: 'SESSION_BUSY' }]) {
      expect(isTurnlockError(other)).toBe(false);
    }
  });

  test('tells one code from another', () => {
    const error = new TurnlockError('SESSION_BUSY', { message: 'no' });
    expect(isTurnlockError(error, 'SESSION_BUSY')).toBe(true);
    expect(isTurnlockError(error, 'TOKEN_STALE')).toBe(false);
  });

  test('recognises the error of another copy of the package', async () => {
    const other: typeof import('../errors.ts') = await import('../errors.ts?another-copy' as string);
    expect(other.TurnlockError).not.toBe(TurnlockError);
    const error = new other.TurnlockError('SESSION_BUSY', { message: 'no' });
    expect(error).not.toBeInstanceOf(TurnlockError);
    expect(isTurnlockError(error, 'SESSION_BUSY')).toBe(true);
    expect(other.isTurnlockError(new TurnlockError('TOKEN_STALE', { message: 'no' }))).toBe(true);
  });
});

describe('the codes', () => {
  test.each(CODES)('%s is SCREAMING_SNAKE, fits its column and has a hint', (code) => {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)+$/);
    expect(code.length).toBeLessThanOrEqual(64);
    expect(ERROR_CODES[code].hint).toMatch(/^\S.*\.$/s);
  });

  test('only what left nothing behind is retryable', () => {
    const retryable = CODES.filter((code) => ERROR_CODES[code].retryable);
    const categories = new Set(retryable.map((code) => ERROR_CODES[code].category));
    expect([...categories].sort()).toEqual(['conflict', 'transient', 'work']);
    expect(retryable).not.toContain('COMMIT_UNKNOWN');
  });
});
