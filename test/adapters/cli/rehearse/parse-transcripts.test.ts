import { describe, expect, test } from 'vitest';
import { parseTranscripts } from '../../../../adapters/cli/rehearse/parse-transcripts.ts';
import { refusalOf } from '../../../persistence/values/refusal-of.ts';
import { answer, calling, chatLine, reply, user } from './chat-line.ts';

test('a conversation becomes its turns; the leading system message is none', () => {
  const [transcript] = parseTranscripts(
    chatLine([
      { role: 'system', content: 'Be kind.' },
      user('hello'),
      calling([['a', 'look_up', '{"id": 1}']], 'one moment'),
      answer('a', 'Error: no such order'),
      reply('sorry'),
    ]),
  );
  expect(transcript).toEqual({
    id: 'one',
    instructions: 'Be kind.',
    turns: [
      { role: 'user', text: 'hello' },
      {
        role: 'assistant',
        text: 'one moment',
        calls: [{ id: 'a', toolName: 'look_up', input: { id: 1 }, output: 'Error: no such order' }],
      },
      { role: 'tool', toolName: 'look_up', text: 'Error: no such order' },
      { role: 'assistant', text: 'sorry', calls: [] },
    ],
  });
});

test('identical calls of one message keep their own answers, in call order', () => {
  const twice = calling([
    ['a', 'refund', '{}'],
    ['b', 'refund', '{}'],
  ]);
  const [transcript] = parseTranscripts(chatLine([user('x'), twice, answer('b', 'second'), answer('a', 'first')]));
  expect(transcript?.turns.slice(2)).toEqual([
    { role: 'tool', toolName: 'refund', text: 'first' },
    { role: 'tool', toolName: 'refund', text: 'second' },
  ]);
});

test('what no column holds is replaced, as the runtime replaces it', () => {
  const line = chatLine([user('a\u0000b'), calling([['a', 'think', '{"t": "\\ud83d"}']]), answer('a', 'cut \uD83D')]);
  expect(parseTranscripts(line)[0]?.turns).toEqual([
    { role: 'user', text: 'a\uFFFDb' },
    {
      role: 'assistant',
      text: '',
      calls: [{ id: 'a', toolName: 'think', input: { t: '\uFFFD' }, output: 'cut \uFFFD' }],
    },
    { role: 'tool', toolName: 'think', text: 'cut \uFFFD' },
  ]);
});

test('text parts are one text, arguments may be empty, ids may be numbers, blank lines and a byte order mark do not count', () => {
  const parts = [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ];
  const text = `\uFEFF\n${chatLine([user(parts), calling([['c', 'think', '']]), answer('c', '')], 7)}\r\n`;
  expect(parseTranscripts(text)).toMatchObject([
    { id: '7', turns: [{ text: 'ab' }, { calls: [{ input: {} }] }, { text: '' }] },
  ]);
});

const hello = user('hello');
const call = calling([['a', 'think', '{}']]);

describe('what cannot be rehearsed is refused with its line and the problem', () => {
  test.each<[problem: string, text: string, message: RegExp]>([
    ['an empty file', '\n', /line 1 \(found an empty file/],
    ['no JSON', `${chatLine([hello])}{"id"`, /line 2 \(found no JSON/],
    ['no object', '[]', /line 1 \(found an array/],
    ['no id', '{"messages":[]}', /line 1, id \(found undefined/],
    ['an id again', chatLine([hello]) + chatLine([hello]), /line 2, id \(found "one" of line 1 again/],
    ['no messages', '{"id":"a"}', /line 1, messages \(found undefined, wanted an array/],
    ['no turns', chatLine([]), /messages \(found no message/],
    ['a message that is none', chatLine([hello, 5 as unknown as object]), /message 2 \(found a number/],
    ['an unknown role', chatLine([{ role: 'function', content: '' }]), /message 1 \(found role "function"/],
    ['a late system message', chatLine([hello, { role: 'system', content: '' }]), /message 2 \(found role "system"/],
    ['an assistant first', chatLine([reply('hi')]), /message 1 \(found an assistant who speaks first/],
    ['an assistant twice', chatLine([hello, reply('a'), reply('b')]), /message 3 \(found two assistant messages/],
    ['an image', chatLine([user([{ type: 'image_url' }])]), /message 1, content \(found a part of type "image_url"/],
    ['no content of a user', chatLine([user(null)]), /message 1, content \(found null/],
    ['a call without an answer', chatLine([hello, call]), /message 2 \(found the end before the answer to call "a"/],
    ['a message before the answer', chatLine([hello, call, hello]), /message 3 \(found role "user" before the answer/],
    ['an answer without a call', chatLine([hello, answer('a', '')]), /message 2 \(found a tool message for call "a"/],
    ['a second answer', chatLine([hello, call, answer('a', ''), answer('a', '')]), /message 4 \(found a tool message/],
    [
      'arguments that are no JSON',
      chatLine([hello, calling([['a', 'think', '{']])]),
      /tool call 1, function.arguments \(found no JSON/,
    ],
    [
      'a tool name of other characters',
      chatLine([hello, calling([['a', 'a b', '{}']])]),
      /function.name \(found "a b"/,
    ],
    ['a call without id', chatLine([hello, calling([['', 'think', '{}']])]), /tool call 1, id/],
    [
      'arguments that cannot be stored',
      chatLine([hello, calling([['a', 'think', '{"__proto__": 1}']])]),
      /function.arguments/,
    ],
    [
      'calls that are no array',
      chatLine([hello, { role: 'assistant', tool_calls: {} }]),
      /tool_calls \(found an object/,
    ],
  ])('%s', (_problem, text, message) => {
    const error = refusalOf(() => parseTranscripts(text));
    expect(error.code).toBe('TRANSCRIPT_INVALID');
    expect(error.message).toMatch(message);
  });
});
