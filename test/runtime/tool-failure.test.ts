import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { systemEnvironment } from '../../environment.ts';
import { defineTool, ToolError, TurnlockError } from '../../index.ts';
import { LIMITS } from '../../limits.ts';
import { EFFECT_CLASSES, type EffectClass } from '../../machines/execution-status.ts';
import { failureOf } from '../../runtime/tool-failure.ts';

const retry = { attempts: 2, backoff: { initialMs: 7, jitter: 0 } };

function failing(effect: EffectClass, more: object = {}) {
  const definition = { name: 'act', description: 'Acts.', inputSchema: z.object({}), execute: () => null, ...more };
  const tool = defineTool(definition as Parameters<typeof defineTool>[0]);
  return { environment: systemEnvironment, limits: LIMITS, tool, execution: { attempt: 1, effect } };
}

function typesOf(thrown: unknown, more: object = {}): Record<string, string> {
  return Object.fromEntries(EFFECT_CLASSES.map((effect) => [effect, failureOf(failing(effect, more), thrown).type]));
}

const FAILED = {
  readOnly: 'failed',
  idempotent: 'failed',
  transactional: 'failed',
  reconcilable: 'failed',
  nonRepeatable: 'failed',
};
/** What may have acted is unknown; the classes of which nothing can be left have failed. */
const OPEN = { ...FAILED, idempotent: 'unknown', reconcilable: 'unknown', nonRepeatable: 'unknown' };
const UNKNOWN = { ...OPEN, readOnly: 'unknown', transactional: 'unknown' };

const lost = new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
const odd = (name: string) =>
  Object.defineProperty(new ToolError('odd'), name, {
    get: () => {
      throw new Error('do not look');
    },
  });

test.each<[string, unknown, object]>([
  ['a plain error', new Error('no'), FAILED],
  ['an answer that was lost', lost, OPEN],
  ['a connection that never was', Object.assign(new Error('no'), { code: 'ECONNREFUSED' }), FAILED],
  ['a commit of ours whose answer was lost', new TurnlockError('COMMIT_UNKNOWN', { message: 'lost' }), OPEN],
  ['a ToolError', new ToolError('no'), FAILED],
  [
    'a ToolError whose cause is an answer that was lost: it says that nothing was done',
    new ToolError('no', { cause: lost }),
    FAILED,
  ],
  ['a ToolError that does not know', new ToolError('no', { outcome: 'unknown' }), UNKNOWN],
  [
    'a ToolError with another outcome',
    Object.defineProperty(new ToolError('no'), 'outcome', { value: 'Unknown' }),
    UNKNOWN,
  ],
  ['a ToolError whose outcome cannot be read', odd('outcome'), UNKNOWN],
  ['a ToolError whose code cannot be read', odd('code'), FAILED],
  [
    'a ToolError that could not be made',
    thrownBy(() => new ToolError('no', { outcome: 'Unknown' as 'unknown' })),
    OPEN,
  ],
])('%s', (_, thrown, types) => {
  expect(typesOf(thrown)).toEqual(types);
});

test('with retry, an answer that was lost is tried again where a repeat does no harm, and is not told as nothing', () => {
  expect(failureOf(failing('idempotent', { retry }), lost)).toMatchObject({
    type: 'attemptFailed',
    retryInMs: 7,
    isUnknown: true,
    content: { error: { code: 'TOOL_OUTCOME_UNKNOWN', message: 'fetch failed' } },
  });
  expect(failureOf(failing('readOnly', { retry }), lost)).toMatchObject({ type: 'attemptFailed', isUnknown: false });
  expect(failureOf(failing('nonRepeatable', { retry }), lost)).toMatchObject({ type: 'unknown' });
});

describe('the options of a ToolError', () => {
  test.each<[string, unknown, RegExp]>([
    [
      'an outcome that is none',
      { outcome: 'Unknown' },
      /outcome of a ToolError that says "no" \(wanted failed or unknown\)/,
    ],
    ['a name that is none', { outcom: 'unknown' }, /outcom of a ToolError/],
    ['a name that every object has', { toString: () => 'x' }, /toString of a ToolError/],
    ['retryable as text', { retryable: 'yes' }, /retryable of a ToolError/],
    ['a time as text', { retryAfterMs: '5' }, /retryAfterMs of a ToolError/],
    ['a code that is no text', { code: 7 }, /code of a ToolError/],
    ['none at all', null, /options of a ToolError/],
  ])('%s is refused', (_, options, message) => {
    expect(thrownBy(() => new ToolError('no', options as object))).toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringMatching(message),
    });
  });

  test('what a receiver says may be no number, and what is undefined is not there', () => {
    const error = new ToolError('busy', { retryable: true, retryAfterMs: Number('soon'), code: undefined as never });
    expect(error).toMatchObject({ retryable: true, code: 'TOOL_FAILED', outcome: 'failed' });
    const failure = failureOf(failing('nonRepeatable', { retry }), error);
    expect(failure).toMatchObject({ type: 'attemptFailed', retryInMs: 7 });
  });
});

function thrownBy(make: () => unknown): unknown {
  try {
    make();
  } catch (error) {
    return error;
  }
  return expect.fail('nothing was thrown');
}
