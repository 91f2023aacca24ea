import { describe, expect, test } from 'vitest';
import { EXECUTION_STATUSES } from '../../machines/execution-status.ts';
import { outcomeOf, outcomeText, type SettledExecution } from '../../persistence/outcome-text.ts';

function text(change: Partial<SettledExecution>): string {
  return outcomeText({ status: 'SUCCESS', outputPayload: null, errorMessage: null, ...change });
}

describe('an output', () => {
  test.each<[string, SettledExecution['outputPayload'], string]>([
    ['text stands as it is', 'a "quoted"\nline', 'a "quoted"\nline'],
    ['empty text is empty', '', ''],
    ['an object is JSON', { id: 42, tags: ['a'] }, '{"id":42,"tags":["a"]}'],
    ['a number is JSON', 0, '0'],
    ['false is JSON', false, 'false'],
    ['nothing is null', null, 'null'],
  ])('%s', (_title, outputPayload, wanted) => {
    expect(text({ outputPayload })).toBe(wanted);
  });
});

describe('a failure', () => {
  test('says its reason', () => {
    expect(text({ status: 'FAILED', errorMessage: 'no such order' })).toBe('The call failed: no such order');
  });

  test('without a reason says that none was recorded', () => {
    expect(text({ status: 'FAILED' })).toBe('The call failed: no reason was recorded');
  });
});

describe('C06 an unknown outcome is not told as an error', () => {
  const unknown = text({ status: 'TIMED_OUT', errorMessage: 'The run was cancelled.' });

  test('it says that the call may have taken effect, and to verify first', () => {
    expect(unknown).toContain('unknown');
    expect(unknown).toContain('It may have taken effect.');
    expect(unknown).toContain('Verify before you repeat it.');
    expect(unknown).toMatch(/The run was cancelled\.$/);
  });

  test('it differs from a failure of the same reason, and never says failed or error', () => {
    expect(unknown).not.toBe(text({ status: 'FAILED', errorMessage: 'The run was cancelled.' }));
    expect(unknown).not.toMatch(/fail|error/i);
  });

  test('without a reason nothing trails', () => {
    expect(text({ status: 'TIMED_OUT' })).toMatch(/repeat it\.$/);
  });
});

test('each status is told in one of three ways; what is not settled is not known', () => {
  expect(EXECUTION_STATUSES.map((status) => [status, outcomeOf(status)])).toEqual([
    ['PENDING', 'unknown'],
    ['RUNNING', 'unknown'],
    ['SUCCESS', 'succeeded'],
    ['FAILED', 'failed'],
    ['TIMED_OUT', 'unknown'],
  ]);
});
