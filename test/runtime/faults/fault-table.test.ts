import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { describeEnd } from './describe-end.ts';
import { readFaultTable } from './fault-table.ts';
import { EFFECTS, PLACES } from './places.ts';

const page = readFileSync('docs/guarantees.md', 'utf8');

/** Every word that a cell may have, in its order. */
const CELL = /^(–|((reconcile|person): (not )?done, )?(rolled back, )?(failed, )?\d acts?(, same key|, asked twice)?)$/;

describe('the tables of faults', () => {
  test.each(['Crash', 'Stall', 'Disconnect', 'Time-out'])(
    '%s says what happens at every place, and nothing else',
    (title) => {
      expect([...readFaultTable(page, title).keys()].sort()).toEqual([...PLACES].sort());
    },
  );

  test.each(['Crash', 'Stall', 'Disconnect', 'Time-out', 'Processes that are killed'])(
    'every cell of %s is in the words of the page',
    (title) => {
      for (const [place, row] of readFaultTable(page, title)) {
        for (const effect of EFFECTS) expect(row[effect], `${place}, ${effect}`).toMatch(CELL);
      }
    },
  );
});

test('a row may name several places; two rows for one place, other columns and a heading that is absent are refused', () => {
  const head = `### One\n\n| place | ${EFFECTS.join(' | ')} |\n|---|---|---|---|---|---|\n`;
  const row = '| start: `a`, `b` | 1 | 2 | 3 | 4 | 5 |\n| `c`, after the act | 1 | 2 | 3 | 4 | – |\n';
  const table = readFaultTable(`\n${head}${row}\n### Two\n| place |\n`, 'One');
  expect([...table.keys()]).toEqual(['start: a', 'start: b', 'c, after the act']);
  expect(table.get('start: b')).toEqual({
    readOnly: '1',
    idempotent: '2',
    transactional: '3',
    reconcilable: '4',
    nonRepeatable: '5',
  });
  expect(() => readFaultTable(`\n${head}${row}${row}`, 'One')).toThrow('two rows for start: a');
  expect(() => readFaultTable('\n### One\n| place | x |\n', 'One')).toThrow('columns place,x');
  expect(() => readFaultTable('', 'One')).toThrow('no heading One');
});

test('an end is said in the words of the page', () => {
  const outside = { acts: [], writes: 0, answers: [] };
  const success = { status: 'SUCCESS', rows: [] };
  const end = (over: object, ending: object = {}, asked: string[] = []) =>
    describeEnd({ ...success, ...ending }, { outside: { ...outside, ...over }, asked });
  expect(end({ acts: ['k'] })).toBe('1 act');
  expect(end({ acts: ['k', 'k'] })).toBe('2 acts, same key');
  expect(end({ acts: ['k', 'l'] })).toBe('2 acts, several keys');
  expect(end({ writes: 2 }, { rows: ['k'] })).toBe('rolled back, 1 act');
  expect(end({ writes: 1 }, { status: 'FAILED' })).toBe('rolled back, failed, 0 acts');
  expect(end({ acts: ['k'], answers: ['done', 'done'] })).toBe('reconcile: done, 1 act');
  expect(end({ acts: ['k'] }, {}, ['not done'])).toBe('person: not done, 1 act');
});
