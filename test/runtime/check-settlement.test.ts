import { describe, expect, test } from 'vitest';
import { resolveLimits } from '../../limits.ts';
import { checkSettlement, reasonContent, type Settlement } from '../../runtime/check-settlement.ts';

const limits = resolveLimits({ maxOutputBytes: 64, maxErrorBytes: 256 });

describe('a settlement by a person', () => {
  test.each<[string, Settlement, object]>([
    ['succeeded with an output', { outcome: 'succeeded', output: { id: 1 }, by: 'ada' }, { output: { id: 1 } }],
    ['succeeded without one', { outcome: 'succeeded', by: 'ada' }, { output: null }],
    [
      'failed for a reason',
      { outcome: 'failed', reason: 'no such order', by: 'ada' },
      { error: { code: 'TOOL_FAILED', message: 'no such order' } },
    ],
    ['runs again', { outcome: 'runAgain', by: 'ada' }, {}],
  ])('%s', (_title, settlement, content) => {
    expect(checkSettlement(settlement, limits)).toMatchObject({ outcome: settlement.outcome, by: 'ada', content });
  });

  test('C34 what was replaced in output and reason is noted', () => {
    expect(checkSettlement({ outcome: 'succeeded', output: ['\u0000'], by: 'ada' }, limits).content).toEqual({
      output: ['\uFFFD'],
      normalised: ['/output/0'],
    });
    expect(checkSettlement({ outcome: 'failed', reason: 'a\uD800', by: 'ada' }, limits).content).toEqual({
      error: { code: 'TOOL_FAILED', message: 'a\uFFFD' },
      normalised: ['/reason'],
    });
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'OUTCOME_INVALID'],
    ['null', null, 'OUTCOME_INVALID'],
    ['no outcome', { by: 'ada' }, 'OUTCOME_INVALID'],
    ['an unknown outcome', { outcome: 'maybe', by: 'ada' }, 'OUTCOME_INVALID'],
    ['an outcome that is no text', { outcome: 5n, by: 'ada' }, 'OUTCOME_INVALID'],
    ['nobody', { outcome: 'runAgain' }, 'VALUE_INVALID'],
    ['a name that is too long', { outcome: 'runAgain', by: 'a'.repeat(256) }, 'VALUE_TOO_LARGE'],
    ['a failure without a reason', { outcome: 'failed', by: 'ada' }, 'VALUE_INVALID'],
    ['a reason that is too long', { outcome: 'failed', reason: 'a'.repeat(257), by: 'ada' }, 'VALUE_TOO_LARGE'],
    ['C36 an output that JSON cannot hold', { outcome: 'succeeded', output: 5n, by: 'ada' }, 'VALUE_INVALID'],
    ['an output that is too large', { outcome: 'succeeded', output: 'a'.repeat(65), by: 'ada' }, 'VALUE_TOO_LARGE'],
  ])('is refused: %s', (_title, settlement, code) => {
    expect(() => checkSettlement(settlement as Settlement, limits)).toThrow(expect.objectContaining({ code }));
  });
});

test('C34 the reason of a cancel can be stored, and says what was replaced', () => {
  expect(reasonContent('RUN_CANCELLED', 'stop\u0000', limits)).toEqual({
    error: { code: 'RUN_CANCELLED', message: 'stop\uFFFD' },
    normalised: ['/reason'],
  });
  expect(() => reasonContent('RUN_CANCELLED', 7 as never, limits)).toThrow(
    expect.objectContaining({ code: 'VALUE_INVALID' }),
  );
});
