import { describe, expect, test } from 'vitest';
import { findImpurities } from '../../scripts/find-impurities.ts';

function check(path: string, source: string): string[] {
  return findImpurities(new Map([[path, source]]));
}

describe('clock, chance and ids', () => {
  test.each([
    'Date.now()',
    'new Date()',
    'Math.random()',
    'crypto.randomUUID()',
    'randomBytes(8)',
    'setTimeout(f, 1)',
    'setInterval(f, 1)',
    'AbortSignal.timeout(5)',
    'performance.now()',
    'process.hrtime()',
    `import { x } from 'node:timers/promises'`,
  ])('%s is refused in the product and allowed where the environment is made', (source) => {
    expect(check('runtime/a.ts', source)).toEqual([expect.stringContaining('environment.ts alone')]);
    expect(check('environment.ts', source)).toEqual([]);
    expect(check('test/runtime/a.test.ts', source)).toEqual([]);
  });

  test('a date of a given time and a comment are harmless', () => {
    expect(check('runtime/a.ts', 'new Date(at); // never Date.now()')).toEqual([]);
  });
});

describe('SQL', () => {
  test.each(["'SELECT 1'", '`insert`; `\n  `; `UPDATE t SET a = 1`', "'DELETE FROM t'", "'SET LOCAL ROLE x'"])(
    '%s is refused outside the folders that may',
    (source) => {
      expect(check('runtime/a.ts', source)).toEqual([expect.stringContaining('SQL is written in')]);
      expect(check('persistence/a.ts', source)).toEqual([]);
      expect(check('migrations/a.ts', source)).toEqual([]);
    },
  );

  test('a word alone is no statement', () => {
    expect(check('machines/a.ts', "const words = ['SELECT', 'BEGIN', 'COMMIT'];")).toEqual([]);
  });
});

describe('pure machines', () => {
  test.each(['invoke: {}', 'after: { 5: x }', 'async () => 1', 'Promise.resolve()', 'process.env'])(
    '%s is refused in machines alone',
    (source) => {
      expect(check('machines/a.ts', source)).toEqual([expect.stringContaining('machines are pure')]);
      expect(check('runtime/a.ts', source)).toEqual([]);
    },
  );
});
