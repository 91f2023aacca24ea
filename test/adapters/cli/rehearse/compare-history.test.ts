import { expect, test } from 'vitest';
import { type ComparedTurn, compareHistory } from '../../../../adapters/cli/rehearse/compare-history.ts';
import { parseTranscripts } from '../../../../adapters/cli/rehearse/parse-transcripts.ts';
import type { Transcript } from '../../../../adapters/cli/rehearse/transcript.ts';
import { answer, calling, chatLine, reply, user } from './chat-line.ts';

const calls = calling([
  ['a', 'refund', '{"cents": 1, "id": "x"}'],
  ['b', 'refund', '{"cents": 2, "id": "x"}'],
]);
const [transcript] = parseTranscripts(
  chatLine([user('hi'), calls, answer('a', 'one'), answer('b', 'two'), reply('bye')]),
) as [Transcript];

function call(id: string, ordinal: number, input: object): object {
  return { type: 'toolCall', ordinal, toolName: 'refund', input, providerCallId: id, executionId: 'e' };
}

function stored(): [ComparedTurn, ComparedTurn, ComparedTurn, ComparedTurn, ComparedTurn] {
  return [
    { role: 'user', content: 'hi', parts: [{ type: 'text', text: 'hi' }] },
    {
      role: 'assistant',
      content: '',
      parts: [call('a', 0, { id: 'x', cents: 1 }), call('b', 1, { id: 'x', cents: 2 })],
    },
    { role: 'tool', content: 'one', parts: [{ type: 'toolResult', toolName: 'refund' }] },
    { role: 'tool', content: 'two', parts: [{ type: 'toolResult', toolName: 'refund' }] },
    { role: 'assistant', content: 'bye', parts: [{ type: 'text', text: 'bye' }] },
  ];
}

test('the recording equals itself, whatever the order of keys', () => {
  expect(compareHistory(transcript, stored())).toEqual([]);
});

test('a text, a tool, arguments, a role, each is told with both sides', () => {
  const history = stored();
  history[0] = { ...history[0], content: 'ho' };
  history[1] = { ...history[1], parts: history[1].parts.slice(0, 1) };
  history[2] = { ...history[2], parts: [{ type: 'toolResult', toolName: 'other' }] };
  history[3] = { ...history[3], role: 'system' };
  expect(compareHistory(transcript, history)).toMatchObject([
    { transcriptId: 'one', turn: 0, what: 'text', recorded: 'hi', found: 'ho' },
    {
      turn: 1,
      what: 'tool calls',
      recorded: 'refund({"cents":1,"id":"x"}) as a, refund({"cents":2,"id":"x"}) as b',
      found: 'refund({"cents":1,"id":"x"}) as a',
    },
    { turn: 2, what: 'tool name', recorded: 'refund', found: 'other' },
    { turn: 3, what: 'role', recorded: 'tool', found: 'system' },
    { turn: 3, what: 'tool name', recorded: 'refund', found: 'nothing' },
  ]);
});

test('calls that changed places differ', () => {
  const history = stored();
  history[1] = { ...history[1], parts: history[1].parts.toReversed() };
  expect(compareHistory(transcript, history)).toMatchObject([{ turn: 1, what: 'tool calls' }]);
});

test('a turn too few and a turn too many are differences', () => {
  const history = stored();
  expect(compareHistory(transcript, history.slice(0, 4))).toContainEqual(
    expect.objectContaining({ turn: 4, what: 'turn', recorded: 'nothing', found: 'the end' }),
  );
  expect(compareHistory(transcript, [...history, history[0]])).toContainEqual(
    expect.objectContaining({ turn: 5, what: 'turn', recorded: 'the end' }),
  );
});
