import { expect, test } from 'vitest';
import { judge, type RehearsalReport } from '../../../../adapters/cli/rehearse/rehearsal-report.ts';
import { renderReport } from '../../../../adapters/cli/rehearse/render-report.ts';
import { coloursFor } from '../../../../adapters/cli/terminal.ts';

const good: Omit<RehearsalReport, 'ok'> = {
  finished: true,
  seed: 3,
  database: 'pglite',
  sessions: { recorded: 2, equal: 2 },
  turns: { recorded: 40 },
  toolCalls: { recorded: 20, acts: 20, invocations: 26 },
  kills: { total: 10, insideTool: 5 },
  seconds: 12.3,
  differences: [],
  actDifferences: [],
  failures: [],
};

function lines(report: Omit<RehearsalReport, 'ok'>): string {
  return renderReport(judge(report), coloursFor(false)).join('\n');
}

test('figures and claims of a rehearsal in which everything held', () => {
  expect(judge(good).ok).toBe(true);
  expect(lines(good)).toBe(`
  conversations   2 of 2 as recorded, 40 turns
  tool calls      20 recorded, 20 acts, 26 requests
  kills           10, 5 of them (50 %) inside a tool
  time            12 s on the embedded database, seed 3

✓ every conversation came to its end
✓ every history in the tables is the recording, turn by turn
✓ the outside world saw every act exactly as often as it was recorded
✓ at least 20 % of the kills fell inside a tool`);
});

test('a difference is shown around the first character that differs, harmless for a terminal', () => {
  const same = 'the same words again and again, far beyond what one line can show of them, ';
  const difference = {
    transcriptId: 'a-1',
    turn: 3,
    what: 'text',
    recorded: `${same}one\u001b[31m`,
    found: `${same}two`,
  };
  const report = { ...good, sessions: { recorded: 2, equal: 1 }, differences: [difference] };
  expect(judge(report).ok).toBe(false);
  expect(lines(report)).toContain(`✗ every history in the tables is the recording, turn by turn`);
  expect(lines(report)).toContain(`
a-1, turn 3: text
  - recorded  …at one line can show of them, one\\u001b[31m
  + found     …at one line can show of them, two`);
});

test.each<[claim: string, change: Partial<RehearsalReport>]>([
  ['it was not finished', { finished: false }],
  ['a conversation failed', { failures: [{ transcriptId: 'a', code: 'MODEL_FAILED', message: 'no' }] }],
  ['an act was seen too often', { actDifferences: [{ act: '[]', recorded: 1, seen: 2 }] }],
  ['too few of enough kills fell inside a tool', { kills: { total: 10, insideTool: 1 } }],
])('it does not hold when %s', (_claim, change) => {
  expect(judge({ ...good, ...change }).ok).toBe(false);
  expect(lines({ ...good, ...change })).toContain('✗');
});

test('nine kills are too few to judge where they fell, so nothing is claimed about it', () => {
  const few = { ...good, kills: { total: 9, insideTool: 0 } };
  expect(judge(few).ok).toBe(true);
  expect(lines(few)).not.toContain('of the kills fell');
});
