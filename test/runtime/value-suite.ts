import { expect, test } from 'vitest';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

/** Texts, and what is read back. The last column says whether anything had to be replaced. */
const TEXTS: readonly [name: string, given: string, stored: string, isReplaced: boolean][] = [
  ['U+0000', 'a\u0000b', 'a\uFFFDb', true],
  ['a lone high surrogate', 'cut \ud83d', 'cut \uFFFD', true],
  ['a lone low surrogate', '\ude00 cut', '\uFFFD cut', true],
  ['surrogates in the wrong order', '\ude00\ud83d', '\uFFFD\uFFFD', true],
  ['whole emojis', 'ok 😀👩‍👩‍👧', 'ok 😀👩‍👩‍👧', false],
  ['six characters', String.raw`a\u0000b`, String.raw`a\u0000b`, false],
  ['quotes and backslashes', `'"\\' OR 1=1; --`, `'"\\' OR 1=1; --`, false],
  ['an array as text', '[1,2]', '[1,2]', false],
  ['a number as text', '123', '123', false],
  ['null as text', 'null', 'null', false],
  ['true as text', 'true', 'true', false],
  ['an object as text', '{"a":1}', '{"a":1}', false],
  ['text in quotes', '"quoted"', '"quoted"', false],
  ['a placeholder', '$1 ? ?? :name', '$1 ? ?? :name', false],
  ['an empty text', '', '', false],
  ['white space', ' \t\r\n ', ' \t\r\n ', false],
  ['control characters', '\u0001\u001f\u007f\u2028', '\u0001\u001f\u007f\u2028', false],
  ['the replacement itself', '\uFFFD', '\uFFFD', false],
];

/** Values that are no text, as they come back. */
const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  1e21,
  9007199254740991,
  [],
  {},
  [1, [2, [null]]],
  [[], {}],
  { a: null, b: [{ c: '' }] },
  { '': 1, ' ': 2 },
  { aa: 1, b: 2 },
];

/** The choke point for values, end to end: what goes in by any way comes back by any way. */
export const describeValues: RuntimeSuite = (database) => {
  /** Everything that one run with this text everywhere leaves behind, read back by another runtime. */
  async function runWith(text: string) {
    const seen: unknown[] = [];
    const echo = looseTool('echo', (params) => {
      seen.push(params);
      return text;
    });
    const fail = looseTool('fail', () => {
      throw new Error(`because ${text}`);
    });
    const metadata = { note: text, [`key ${text}`]: 1 };
    const toolCalls = [
      call('echo', { text, nested: [{ text }] }, { providerCallId: text, providerMetadata: { text } }),
      call('fail'),
    ];
    const agent = scriptedAgent(
      eachRun(
        { text: `calling ${text}`, toolCalls, providerRequestId: text },
        { text: `reply ${text}`, finishReason: text },
      ),
      [echo, fail],
    );
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, { metadata });
    const result = await (await session.send(`message ${text}`, { metadata, messageId: 'm1' })).result();
    const again = await (await openRuntime(database(), [agent])).session(session);
    return { seen, result, status: await again.status(), history: await again.history(), sessionId: session.sessionId };
  }

  test.each(TEXTS)(
    'C34 C35 %s in message, metadata, params, result, error and reply',
    async (_, given, stored, isReplaced) => {
      const { seen, result, status, history, sessionId } = await runWith(given);
      expect(result).toMatchObject({ state: 'IDLE', reply: `reply ${stored}`, error: null });
      expect(seen).toEqual([{ text: stored, nested: [{ text: stored }] }]);
      const metadata = { note: stored, [`key ${stored}`]: 1 };
      expect(status.metadata).toEqual(metadata);
      expect(history.map(({ content }) => content)).toEqual([
        `message ${stored}`,
        `calling ${stored}`,
        stored,
        `The call failed: because ${stored}`,
        `reply ${stored}`,
      ]);
      expect(history[0]!.metadata).toEqual(metadata);
      const [user, assistant] = history;
      expect(user!.normalised).toEqual(isReplaced ? expect.arrayContaining(['/message', '/metadata/note']) : null);
      expect(assistant!.normalised).toEqual(isReplaced ? expect.arrayContaining(['/reply']) : null);
      expect(assistant!.parts).toMatchObject([
        { type: 'text', text: `calling ${stored}` },
        {
          type: 'toolCall',
          toolName: 'echo',
          input: { text: stored },
          providerCallId: stored,
          providerMetadata: { text: stored },
        },
        { type: 'toolCall', toolName: 'fail' },
      ]);
      const [echoed, failed] = await database().query(
        `SELECT input_parameters, output_payload, jsonb_typeof(output_payload) AS kind, error_message, normalised
        FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY ordinal`,
        [sessionId],
      );
      expect(echoed).toMatchObject({ input_parameters: { text: stored }, output_payload: stored, kind: 'string' });
      expect(failed).toMatchObject({ output_payload: null, error_message: `because ${stored}` });
      expect(echoed.normalised).toEqual(isReplaced ? expect.arrayContaining(['/params/text', '/output']) : null);
    },
  );

  test('C34 values that are no text come back as the same JSON, to the tool and from the database', async () => {
    const seen: unknown[] = [];
    const echo = looseTool('echo', ({ value }) => {
      seen.push(value);
      return value;
    });
    const toolCalls = VALUES.map((value) => call('echo', { value }));
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), [echo]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE' });
    expect(seen).toHaveLength(VALUES.length);
    expect(seen).toEqual(expect.arrayContaining([...VALUES]));
    const rows = await database().query(
      `SELECT input_parameters -> 'value' AS input, output_payload, output_payload IS NULL AS is_null, jsonb_typeof(output_payload) AS kind
        FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY ordinal`,
      [session.sessionId],
    );
    expect(rows.map(({ output_payload }) => output_payload)).toEqual(VALUES);
    expect(rows.map(({ input }) => input)).toEqual(VALUES);
    const answers = (await session.history()).filter(({ role }) => role === 'tool');
    expect(answers.map(({ content }) => JSON.parse(content))).toEqual(VALUES);
  });

  test('a tool that returns nothing succeeded with null', async () => {
    const agent = scriptedAgent(eachRun({ toolCalls: [call('nothing')] }, 'done'), [
      looseTool('nothing', () => undefined),
    ]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    await (await session.send('go')).result();
    expect((await session.history())[2]).toMatchObject({ content: 'null', parts: [{ outcome: 'succeeded' }] });
  });

  test.each<[string, () => unknown, string]>([
    ['a BigInt', () => ({ a: [1n] }), '/output/a/0'],
    ['a Date', () => ({ at: new Date(0) }), '/output/at'],
    ['a Map', () => new Map([['a', 1]]), '/output'],
    ['a class instance', () => ({ a: new (class Order {})() }), '/output/a'],
    ['a function', () => ({ a: () => 1 }), '/output/a'],
    ['NaN', () => ({ a: Number.NaN }), '/output/a'],
    ['1e400', () => ({ a: Number('1e400') }), '/output/a'],
    [
      'a cycle',
      () => {
        const cycle: Record<string, unknown> = {};
        cycle.self = cycle;
        return cycle;
      },
      '/output/self',
    ],
    [
      'a getter that throws',
      () => ({
        get a() {
          throw new Error('no');
        },
      }),
      '/output/a',
    ],
  ])('C36 a result that holds %s: the call succeeded, and what it was is told with its path', async (_, make, path) => {
    let count = 0;
    const odd = looseTool(
      'odd',
      () => {
        count += 1;
        return make();
      },
      { effect: 'nonRepeatable' },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('odd')] }, 'done'), [odd]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(count).toBe(1);
    const [row] = await database().query(
      'SELECT status, output_payload FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(row).toMatchObject({ status: 'SUCCESS', output_payload: { notStored: true, reason: 'VALUE_INVALID' } });
    expect(row.output_payload.says).toContain(path);
  });

  test.each<[string, unknown, string]>([
    ['a BigInt', { a: 1n }, '/metadata/a'],
    ['a Date', { a: { b: new Date(0) } }, '/metadata/a/b'],
    ['undefined in an array', { a: [undefined] }, '/metadata/a/0'],
    ['an infinity', { a: Number('1e400') }, '/metadata/a'],
  ])('C36 metadata that holds %s is refused with the path, and nothing is written', async (_, metadata, path) => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const refusal = { code: 'VALUE_INVALID', message: expect.stringContaining(path) };
    const given = metadata as { [name: string]: unknown };
    await expect(openSession(runtime, agent, { metadata: given, tenantId: 'tenant-odd' })).rejects.toMatchObject(
      refusal,
    );
    const session = await openSession(runtime, agent);
    await expect(session.send('x', { metadata: given })).rejects.toMatchObject(refusal);
    expect((await session.status()).version).toBe(0);
    expect(await runtime.sessions({ tenantId: 'tenant-odd' })).toEqual([]);
  });

  test('C36 params that JSON cannot hold are answered at once, with the path', async () => {
    let count = 0;
    const tool = looseTool('tool', () => ++count);
    const agent = scriptedAgent(eachRun({ toolCalls: [call('tool', { a: [1n] })] }, 'done'), [tool]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(count).toBe(0);
    expect((await session.history())[2]).toMatchObject({
      content: expect.stringContaining('/params/a/0'),
      parts: [{ outcome: 'failed' }],
    });
  });

  test('C35 a tool name that is cut in the middle of an emoji, and other odd names, are answered as unknown tools', async () => {
    const names = [`${'x'.repeat(127)}😀`, '', 'a\u0000b', '../../etc', 'x'.repeat(500)];
    const agent = scriptedAgent(eachRun({ toolCalls: names.map((name, n) => call(name, { n })) }, 'done'));
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    const answers = (await session.history()).filter(({ role }) => role === 'tool');
    expect(answers).toHaveLength(names.length);
    for (const { parts } of answers) expect(parts).toMatchObject([{ outcome: 'failed' }]);
  });

  test('C38 arguments that are not JSON, or fail the schema, are answered at once, and the raw text is kept', async () => {
    let count = 0;
    const { z } = await import('zod');
    const { defineTool } = await import('../../index.ts');
    const strict = defineTool({
      name: 'strict',
      description: 'Takes a number.',
      inputSchema: z.strictObject({ n: z.number() }),
      execute: () => ++count,
    });
    const toolCalls = [
      call('strict', undefined, { invalidInput: '{"n": 1' }),
      call('strict', undefined, { invalidInput: 'not\u0000json' }),
      call('strict', { n: 'one' }),
      call('strict', { n: 1, more: true }),
    ];
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), [strict]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const run = await session.send('go');
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(count).toBe(0);
    const rows = await database().query(
      'SELECT status, attempt, error_code, raw_input, input_parameters FROM turnlock.agent_tool_executions WHERE session_id = $1 ORDER BY ordinal',
      [session.sessionId],
    );
    const failed = { status: 'FAILED', attempt: 0, error_code: 'PARAMS_INVALID' };
    expect(rows).toEqual([
      { ...failed, raw_input: '{"n": 1', input_parameters: {} },
      { ...failed, raw_input: 'not\uFFFDjson', input_parameters: {} },
      { ...failed, raw_input: null, input_parameters: { n: 'one' } },
      { ...failed, raw_input: null, input_parameters: { n: 1, more: true } },
    ]);
    expect((await session.transitions()).map(({ type, from, to }) => [type, from, to])).toEqual([
      ['user.messaged', 'IDLE', 'PLANNING'],
      ['model.calledTools', 'PLANNING', 'PLANNING'],
      ['model.replied', 'PLANNING', 'IDLE'],
    ]);
    const answers = (await session.history()).filter(({ role }) => role === 'tool');
    expect(answers.map(({ content }) => content)).toEqual([
      expect.stringMatching(/not JSON/),
      expect.stringMatching(/not JSON/),
      expect.stringMatching(/\/n/),
      expect.stringMatching(/more/),
    ]);
  });
};
