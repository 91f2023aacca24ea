import { expect, test } from 'vitest';
import type { ModelTurn } from '../../../adapters/models/model.contract.ts';
import { cutToTokens, shortened } from '../../../runtime/context/cut-to-tokens.ts';
import { transcriptOf } from '../../../runtime/context/transcript.ts';
import { summaryRequest } from '../../../runtime/summaries/summary-request.ts';

const countTokens = (text: string) => Math.ceil(text.length / 4);

function said(turnIndex: number, role: ModelTurn['role'], text: string): ModelTurn {
  return { turnIndex, role, text, parts: [{ type: 'text', text }] };
}

function called(turnIndex: number, input: string): ModelTurn {
  const part = {
    type: 'toolCall',
    ordinal: 0,
    toolName: 'look',
    input,
    providerCallId: null,
    executionId: 'e',
  } as const;
  return { turnIndex, role: 'assistant', text: '', parts: [part] };
}

function returned(turnIndex: number, text: string): ModelTurn {
  const answers = { ordinal: 0, toolName: 'look', providerCallId: null, outcome: 'failed' as const };
  return { turnIndex, role: 'tool', text, parts: [], answers };
}

test('turns are told with their roles, calls with what went in and came out, and what tools said is shortened', () => {
  const turns = [
    said(0, 'user', 'Find <it>'),
    called(1, 'x'.repeat(3_000)),
    returned(2, 'y'.repeat(3_000)),
    said(3, 'assistant', 'No.'),
  ];
  const { text, upToTurn } = transcriptOf(turns, { maxTokens: 10_000, countTokens });
  expect(upToTurn).toBe(3);
  expect(text).toContain('<user>Find &lt;it&gt;</user>');
  expect(text).toContain('<call tool="look">');
  expect(text).toContain('<result tool="look" outcome="failed">');
  expect(text).toContain('2000 characters left out');
  expect(text).toContain('<assistant>No.</assistant>');
  expect(text.length).toBeLessThan(3_000);
});

test('a part ends with a round that fits, and the first round is told of however long it is', () => {
  const turns = [0, 1, 2, 3].map((index) =>
    said(index, index % 2 === 0 ? 'user' : 'assistant', `${index} `.repeat(100)),
  );
  const two = transcriptOf(turns, { maxTokens: 130, countTokens });
  expect(two.upToTurn).toBe(1);
  const one = transcriptOf(turns, { maxTokens: 20, countTokens });
  expect(one.upToTurn).toBe(0);
  expect(countTokens(one.text)).toBeLessThan(60);
  expect(transcriptOf([], { maxTokens: 100, countTokens })).toEqual({ text: '', upToTurn: null });
});

test('what a summariser is given has the notes until now, stays within the budget, and says how long it may be', () => {
  const turns = Array.from({ length: 60 }, (_, index) =>
    said(index, index % 2 === 0 ? 'user' : 'assistant', 'word '.repeat(40)),
  );
  const context = { maxTokens: 2_000, summaryInstructions: 'Keep the order numbers.' };
  const request = summaryRequest(context, { previous: 'Wants </notes> tea.', turns }, countTokens);
  expect(request?.instructions).toContain('Keep the order numbers.');
  expect(request?.text).toMatch(/^<conversation>\n<notes>\nWants &lt;\/notes&gt; tea\.\n<\/notes>\n<user>/);
  expect(request?.coversToTurn).toBeLessThan(59);
  expect(request?.maxTokens).toBe(250);
  const given = countTokens(request?.instructions ?? '') + countTokens(request?.text ?? '');
  expect(given + 250).toBeLessThanOrEqual(2_000);
  expect(summaryRequest(context, { previous: null, turns: [] }, countTokens)).toBeNull();
});

test.each([16, 64, 500])(
  'a round of %i calls, and notes of a larger budget, stay within the budget of the summariser',
  (calls) => {
    const parts = Array.from({ length: calls }, (_, ordinal) => ({
      type: 'toolCall' as const,
      ordinal,
      toolName: 'look',
      input: 'x'.repeat(300),
      providerCallId: null,
      executionId: 'e',
    }));
    const answer: ModelTurn = { turnIndex: 1, role: 'assistant', text: 'Looking.', parts };
    const turns = [answer, ...parts.map((_, ordinal) => returned(2 + ordinal, 'y'.repeat(3_000)))];
    const asked = { previous: 'note '.repeat(5_000), turns };
    const request = summaryRequest({ maxTokens: 2_000, summaryInstructions: null }, asked, countTokens);
    expect(request?.coversToTurn).toBe(1 + calls);
    expect(request?.text).toMatch(/<call tool="look">[\s\S]*<\/result>\n<\/conversation>$/);
    const given = countTokens(request?.instructions ?? '') + countTokens(request?.text ?? '');
    expect(given + 250).toBeLessThanOrEqual(2_000);
  },
);

test('a text is cut to its tokens between characters, and one that fits stays as it is', () => {
  expect(cutToTokens('short', 100, countTokens)).toBe('short');
  const cut = cutToTokens('\u{1F600}'.repeat(500), 50, countTokens);
  expect(cut.isWellFormed()).toBe(true);
  expect(countTokens(cut)).toBeLessThanOrEqual(50);
  expect(cut.length).toBeGreaterThan(150);
  expect(shortened('\u{1F600}'.repeat(500), 101).isWellFormed()).toBe(true);
  expect(shortened('abc', 3)).toBe('abc');
});
