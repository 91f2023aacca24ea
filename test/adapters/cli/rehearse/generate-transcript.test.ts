import { expect, test } from 'vitest';
import { generateTranscript } from '../../../../adapters/cli/rehearse/generate-transcript.ts';
import { parseTranscripts } from '../../../../adapters/cli/rehearse/parse-transcripts.ts';

test('the same seed gives the same text, another one another', () => {
  const text = generateTranscript({ count: 5, seed: 1 });
  expect(generateTranscript({ count: 5, seed: 1 })).toBe(text);
  expect(generateTranscript({ count: 5, seed: 2 })).not.toBe(text);
});

test('every seed gives what can be rehearsed', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    expect(parseTranscripts(generateTranscript({ count: 3, seed }))).toHaveLength(3);
  }
});

test('a few dozen hold every case', () => {
  const transcripts = parseTranscripts(generateTranscript({ count: 60, seed: 1 }));
  const answers = transcripts.flatMap(({ turns }) => turns.filter((turn) => turn.role === 'assistant'));
  const identical = answers.flatMap(({ calls }) =>
    calls.filter((call, place) =>
      calls
        .slice(0, place)
        .some((other) => JSON.stringify([other.toolName, other.input]) === JSON.stringify([call.toolName, call.input])),
    ),
  );
  expect(answers.some(({ calls }) => calls.length > 3)).toBe(true);
  expect(identical.length).toBeGreaterThan(10);
  expect(answers.some(({ calls, text }) => calls.length > 0 && text !== '')).toBe(true);
  expect(answers.some(({ calls, text }) => calls.length === 0 && text === '')).toBe(true);
  expect(transcripts.some(({ instructions }) => instructions !== null)).toBe(true);
  expect(new Set(transcripts.map(({ turns }) => turns.at(-1)?.role))).toEqual(new Set(['user', 'assistant', 'tool']));
  expect(
    transcripts.some(({ turns }) =>
      turns.some(({ role }, place) => role === 'user' && turns[place - 1]?.role === 'user'),
    ),
  ).toBe(true);
});
