import { jsonSchema, tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { toPrompt } from '../../../../adapters/models/ai-sdk/to-prompt.ts';
import type { TurnPart } from '../../../../machines/event-content.ts';
import { requestOf, said } from '../../../../testing/contracts/model-requests.ts';
import { answered, callPart, madeBy, resultOf } from './history.ts';

const toAnthropic = { provider: 'anthropic', tools: {} };

async function messagesOf(
  turns: Parameters<typeof requestOf>[0],
  target: Parameters<typeof toPrompt>[1] = toAnthropic,
) {
  return (await toPrompt(requestOf(turns), target)).slice(1);
}

describe('the instructions', () => {
  test('come first', async () => {
    expect((await toPrompt(requestOf([said('Hi')]), toAnthropic))[0]).toEqual({ role: 'system', content: 'Be brief.' });
  });

  test('are left out where there are none', async () => {
    const prompt = await toPrompt(requestOf([said('Hi')], { instructions: ' ' }), toAnthropic);
    expect(prompt).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]);
  });
});

describe('the history', () => {
  test('alternates: results of one answer are one message, and so are messages without an answer between', async () => {
    const turns = [
      said('one'),
      said('two'),
      answered(callPart(0), callPart(1)),
      resultOf(0, 'a'),
      resultOf(1, 'b'),
      said('three'),
    ];
    const messages = await messagesOf(turns);
    expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 2],
      ['assistant', 2],
      ['tool', 2],
      ['user', 1],
    ]);
  });

  test('holds nothing empty: an empty answer goes, an empty message says so', async () => {
    expect(await messagesOf([said(''), answered({ type: 'text', text: '' }), said('still there?')])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: '[an empty message]' },
          { type: 'text', text: 'still there?' },
        ],
      },
    ]);
  });

  test('tells what happened outside as a notice within the turn of the user', async () => {
    const messages = await messagesOf([said('Hi'), { role: 'system', text: 'The refund went through.', parts: [] }]);
    expect(messages).toHaveLength(1);
    expect(messages[0]?.content).toContainEqual({
      type: 'text',
      text: '[Notice of the system, not of the user] The refund went through.',
    });
  });

  test('drops a result whose call lies before the window', async () => {
    expect(await messagesOf([resultOf(0, 'a'), said('Hi')])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ]);
  });

  test('hands on files by URL or with their content, and no others', async () => {
    const parts: TurnPart[] = [
      { type: 'file', mediaType: 'image/png', reference: 'https://files.example/a.png' },
      { type: 'file', mediaType: 'image/png', reference: 'data:image/png;base64,AAEC' },
      { type: 'file', mediaType: 'image/png', reference: 'urn:sha256:00' },
      { type: 'file', mediaType: 'image/png', reference: 'file:///etc/passwd' },
    ];
    const [message] = await messagesOf([{ role: 'user', text: '', parts }]);
    expect(message?.content).toEqual([
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://files.example/a.png') } },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } },
    ]);
  });
});

describe('what a provider made', () => {
  const signature = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds//+==';
  const turn = answered(
    { type: 'reasoning', text: 'Hm.', ...madeBy('anthropic', 0, { anthropic: { signature } }) },
    { type: 'text', text: 'I look.', ...madeBy('anthropic', 2) },
    { type: 'source', sourceType: 'url', id: 's', url: 'https://a.example', ...madeBy('anthropic', 4) },
    {
      type: 'custom',
      part: { type: 'custom', kind: 'anthropic.x' },
      ...madeBy('anthropic', 5, { anthropic: { a: 1 } }),
    },
    callPart(0, { input: { b: 2 }, ...madeBy('anthropic', 1) }),
    callPart(1, { toolName: 'other', ...madeBy('anthropic', 3, { anthropic: { caller: 'direct' } }) }),
  );

  test('goes back to it unchanged and in its order', async () => {
    const [, message] = await messagesOf([said('Hi'), turn, resultOf(0, 'a'), resultOf(1, 'b')]);
    expect(message?.content).toEqual([
      { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature } } },
      { type: 'tool-call', toolCallId: 'c0', toolName: 'lookup', input: { b: 2 } },
      { type: 'text', text: 'I look.' },
      {
        type: 'tool-call',
        toolCallId: 'c1',
        toolName: 'other',
        input: {},
        providerOptions: { anthropic: { caller: 'direct' } },
      },
      { type: 'custom', kind: 'anthropic.x', providerOptions: { anthropic: { a: 1 } } },
    ]);
  });

  test('goes to another one as text and calls alone, under ids of our own', async () => {
    const messages = await messagesOf([said('Hi'), turn, resultOf(0, 'a')], { provider: 'openai', tools: {} });
    expect(messages[1]?.content).toEqual([
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: 't00001000', toolName: 'lookup', input: { b: 2 } },
      { type: 'tool-call', toolCallId: 't00001001', toolName: 'other', input: {} },
    ]);
    expect(messages[2]?.content).toMatchObject([{ toolCallId: 't00001000', toolName: 'lookup' }]);
  });

  test('gives its metadata to the results of its calls, as the SDK does', async () => {
    const [, , message] = await messagesOf([said('Hi'), turn, resultOf(1, 'b')]);
    expect(message?.content).toMatchObject([
      { toolCallId: 'c1', toolName: 'other', providerOptions: { anthropic: { caller: 'direct' } } },
    ]);
  });

  test('ends with no reasoning: a provider that signs it refuses that', async () => {
    const reasoning = { type: 'reasoning' as const, text: 'Hm.', ...madeBy('anthropic', 1) };
    const text = { type: 'text' as const, text: 'Hi.', ...madeBy('anthropic', 0) };
    const [, message] = await messagesOf([said('Hi'), answered(text, reasoning)]);
    expect(message?.content).toEqual([{ type: 'text', text: 'Hi.' }]);
    expect(await messagesOf([said('Hi'), answered(reasoning)])).toHaveLength(1);
  });

  test('is unknown where a model of another adapter answered', async () => {
    const parts: TurnPart[] = [
      { type: 'reasoning', text: 'Hm.', providerMetadata: { anthropic: { signature } } },
      { type: 'text', text: 'Hi.', providerMetadata: { anthropic: { a: 1 } } },
    ];
    expect((await messagesOf([said('Hi'), answered(...parts)]))[1]?.content).toEqual([{ type: 'text', text: 'Hi.' }]);
  });
});

describe('calls that no provider would take as they are', () => {
  test.each([
    ['arguments that were no JSON', { input: {}, rawInput: '{"a": ' }, { arguments: '{"a": ' }],
    ['null', { input: null }, {}],
    ['a list', { input: [1] }, { arguments: [1] }],
    ['a text', { input: 'x' }, { arguments: 'x' }],
  ])('%s: told as an object', async (_, call, input) => {
    const [, message] = await messagesOf([
      said('Hi'),
      answered(callPart(0, call)),
      resultOf(0, 'no', { outcome: 'failed' }),
    ]);
    expect(message?.content).toMatchObject([{ type: 'tool-call', input }]);
  });

  test('C32 a name that no provider takes: in call and result alike', async () => {
    const toolName = 'übung.a b';
    const [, asked, told] = await messagesOf([
      said('Hi'),
      answered(callPart(0, { toolName })),
      resultOf(0, 'no', { toolName }),
    ]);
    expect(asked?.content).toMatchObject([{ toolName: '_bung_a_b' }]);
    expect(told?.content).toMatchObject([{ toolName: '_bung_a_b' }]);
  });
});

describe('outcomes', () => {
  async function told(text: string, outcome: 'succeeded' | 'failed' | 'unknown', tools = {}) {
    const turns = [said('Hi'), answered(callPart(0, { input: { id: 7 } })), resultOf(0, text, { outcome })];
    const [message] = (await messagesOf(turns, { provider: 'anthropic', tools })).slice(2);
    return (message!.content[0] as { output: unknown }).output;
  }

  test('what failed is an error', async () => {
    expect(await told('The call failed: no', 'failed')).toEqual({ type: 'error-text', value: 'The call failed: no' });
  });

  test('what is unknown is no error', async () => {
    expect(await told('The outcome of this call is unknown', 'unknown')).toEqual({
      type: 'text',
      value: 'The outcome of this call is unknown',
    });
  });

  test.each([
    ['{"a":1}', { type: 'json', value: { a: 1 } }],
    ['[1,2]', { type: 'json', value: [1, 2] }],
    ['plain', { type: 'text', value: 'plain' }],
    ['42', { type: 'text', value: '42' }],
    ['null', { type: 'text', value: 'null' }],
    ['', { type: 'text', value: '' }],
    ['{ "a": 1 }', { type: 'text', value: '{ "a": 1 }' }],
  ])('%s is told as it was', async (text, output) => {
    expect(await told(text, 'succeeded')).toEqual(output);
  });

  test('a tool of the SDK shapes what a model is shown of its output', async () => {
    const lookup = tool({
      inputSchema: jsonSchema<{ id: number }>({ type: 'object' }),
      execute: async () => ({ png: 'AAEC' }),
      toModelOutput: ({ input, output, toolCallId }) => ({
        type: 'text',
        value: `${toolCallId} ${input.id} ${output.png}`,
      }),
    });
    expect(await told('{"png":"AAEC"}', 'succeeded', { lookup })).toEqual({ type: 'text', value: 't00001000 7 AAEC' });
    expect(await told('The call failed: no', 'failed', { lookup })).toMatchObject({ type: 'error-text' });
  });
});
