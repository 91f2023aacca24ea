import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ModelToolCall } from '../../adapters/models/model.contract.ts';
import { defineTool } from '../../adapters/tools/define-tool.ts';
import { planCalls as planOpenCalls } from '../../machines/open-calls.ts';
import type { PlannedCall } from '../../machines/session-event.ts';
import type { Planning } from '../../runtime/describe-call.ts';
import { planCalls } from '../../runtime/plan-calls.ts';
import { anyTool, planningWith, toolThat } from './planning.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  inputSchema: z.object({ orderId: z.string(), cents: z.number().int().default(0) }),
  effect: 'idempotent',
  timeoutMs: 1_000,
  execute: () => null,
});

describe('a call that can run', () => {
  test('holds the params after validation, and what its tool declares', async () => {
    const { calls, parts } = await plan(
      [refund],
      [{ toolName: 'refund', input: { orderId: 'o1' }, providerCallId: 'toolu_1' }],
    );
    expect(calls).toMatchObject([
      {
        executionId: 'call-0',
        ordinals: [0],
        verdict: 'start',
        content: {
          toolName: 'refund',
          toolVersion: 1,
          effect: 'idempotent',
          repeatable: false,
          params: { orderId: 'o1', cents: 0 },
          providerCallId: 'toolu_1',
          rawInput: null,
          timeoutMs: 1_000,
          normalised: null,
        },
      },
    ]);
    expect(parts).toMatchObject([{ type: 'toolCall', ordinal: 0, executionId: 'call-0', providerCallId: 'toolu_1' }]);
  });

  test('takes the time-out of the runtime where its tool names none', async () => {
    const { calls } = await planCalls(planningWith([anyTool()], { toolTimeoutMs: 77 }), [
      { toolName: 'tool', input: {} },
    ]);
    expect(calls[0]?.content.timeoutMs).toBe(77);
  });

  test('an asynchronous validator is waited for', async () => {
    const slow = toolThat(async (value) => ({ value: { ...(value as object), checked: true } }));
    const { calls } = await plan([slow], [{ toolName: 'tool', input: { a: 1 } }]);
    expect(calls[0]?.content.params).toEqual({ a: 1, checked: true });
  });

  test('a validator that writes into its input changes a copy', async () => {
    const input = { a: 1 };
    const writing = toolThat((value) => {
      Object.assign(value as object, { a: 2, b: new Date(0) });
      return { issues: [{ message: 'no' }] };
    });
    const { calls } = await plan([writing], [{ toolName: 'tool', input }]);
    expect([input, calls[0]?.content.params]).toEqual([{ a: 1 }, { a: 1 }]);
  });

  test('C40 keys in another order are the same params, text and number are not', async () => {
    const inputs = [
      { a: 1, b: { c: 2, d: 3 } },
      { b: { d: 3, c: 2 }, a: 1 },
      { a: '1', b: { c: 2, d: 3 } },
    ];
    const { calls } = await plan([anyTool()], asked(inputs));
    expect(calls.map((call) => call.ordinals)).toEqual([[0, 1], [2]]);
  });
});

describe('C38 a call that cannot run is told so at once', () => {
  const tools = [refund, anyTool()];

  test.each<[string, ModelToolCall, string, RegExp]>([
    [
      'arguments that are not JSON',
      { toolName: 'refund', input: null, invalidInput: '{"orderId":' },
      'PARAMS_INVALID',
      /^The arguments are not JSON\.$/,
    ],
    [
      'arguments that fail the schema',
      { toolName: 'refund', input: { orderId: 5 } },
      'PARAMS_INVALID',
      /^The arguments do not fit the schema: \/orderId: /,
    ],
    ['no arguments', { toolName: 'refund', input: undefined }, 'PARAMS_INVALID', /undefined/],
    ['an unknown tool', { toolName: 'pay', input: {} }, 'TOOL_UNKNOWN', /^There is no tool named pay\.$/],
    ['no name', { toolName: '', input: {} }, 'TOOL_UNKNOWN', /unnamed/],
    ['a name that is no text', { toolName: 7 as never, input: {} }, 'TOOL_UNKNOWN', /unnamed/],
    ['a property of every object', { toolName: 'toString', input: {} }, 'TOOL_UNKNOWN', /toString/],
    ['C36 a value that JSON cannot hold', { toolName: 'tool', input: { n: 5n } }, 'PARAMS_INVALID', /params\/n/],
  ])('%s', async (_title, call, code, says) => {
    const { calls } = await plan(tools, [call]);
    const message = expect.stringMatching(says);
    expect(calls).toMatchObject([
      { verdict: 'settled', outcome: 'failed', content: { settled: { error: { code, message } } } },
    ]);
  });

  test('the raw text is kept, beside empty params', async () => {
    const { calls, parts } = await plan(tools, [{ toolName: 'refund', input: null, invalidInput: '{"a":\u0000' }]);
    expect(calls[0]?.content).toMatchObject({ params: {}, rawInput: '{"a":\uFFFD', normalised: ['/arguments'] });
    expect(parts).toMatchObject([{ input: {}, rawInput: '{"a":\uFFFD' }]);
  });

  test('arguments that fail the schema are kept as they came, with what was replaced in them', async () => {
    const { calls } = await plan(tools, [{ toolName: 'refund', input: { orderId: 5, note: '\uD800' } }]);
    expect(calls[0]?.content).toMatchObject({ params: { orderId: 5, note: '\uFFFD' }, normalised: ['/params/note'] });
  });

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('out of order');
      },
    ],
    ['rejects', () => Promise.reject(new Error('out of order'))],
    [
      'throws what is no error',
      () => {
        throw null;
      },
    ],
    ['answers nothing', () => undefined],
    ['answers what JSON cannot hold', () => ({ value: { at: new Date(0) } })],
    ['answers issues without a path', () => ({ issues: [{ message: 'no' }] })],
    ['answers issues with an odd path', () => ({ issues: [{ message: 'no', path: [Symbol('s'), { key: 0 }, 'a'] }] })],
  ])('C36 a validator that %s', async (_title, validate) => {
    const { calls } = await plan([toolThat(validate)], [{ toolName: 'tool', input: { a: 1 } }]);
    expect(calls).toMatchObject([
      {
        verdict: 'settled',
        outcome: 'failed',
        content: { params: { a: 1 }, settled: { error: { code: 'PARAMS_INVALID' } } },
      },
    ]);
  });

  test('one bad call does no harm to its siblings', async () => {
    const { calls } = await plan(
      [anyTool()],
      [
        { toolName: 'tool', input: { n: 1 } },
        { toolName: 'gone', input: {} },
        { toolName: 'tool', input: { n: 2 } },
      ],
    );
    expect(calls.map((call) => call.verdict)).toEqual(['start', 'settled', 'start']);
  });

  test('too large arguments are refused, and two of them are not one', async () => {
    const planning = planningWith([anyTool()], { maxParamsBytes: 64 });
    const inputs = ['a', 'b'].map((letter) => ({ text: letter.repeat(100) }));
    const { calls } = await planCalls(planning, asked(inputs));
    expect(calls.map((call) => [call.ordinals, call.content.params])).toEqual([
      [[0], { $invalid: 'VALUE_TOO_LARGE' }],
      [[1], { $invalid: 'VALUE_TOO_LARGE' }],
    ]);
    expect(new Set(calls.map((call) => call.content.paramsDigest)).size).toBe(2);
  });
});

describe('calls that could be taken for each other', () => {
  test('C42 identical calls are one execution, whose places are all of them', async () => {
    const { calls, parts } = await plan([anyTool()], asked([{ a: 1 }, { a: 2 }, { a: 1 }]));
    expect(calls.map((call) => call.ordinals)).toEqual([[0, 2], [1]]);
    expect(parts).toMatchObject([{ executionId: 'call-0' }, { executionId: 'call-1' }, { executionId: 'call-0' }]);
  });

  test('C42 identical calls of a repeatable tool are executions of their own', async () => {
    const { calls } = await plan([anyTool({ repeatable: true })], asked([{ a: 1 }, { a: 1 }]));
    expect(calls.map((call) => [call.ordinals, call.content.repeatable])).toEqual([
      [[0], true],
      [[1], true],
    ]);
  });

  test('C44 a composed and a decomposed letter are different params', async () => {
    const { calls } = await plan([anyTool()], asked([{ name: '\u00e9' }, { name: 'e\u0301' }]));
    expect(calls).toHaveLength(2);
  });

  test('identical calls that are refused are told once and answered twice', async () => {
    const { calls } = await plan(
      [refund],
      [
        { toolName: 'refund', input: null, invalidInput: '{' },
        { toolName: 'refund', input: null, invalidInput: '{' },
      ],
    );
    expect(calls.map((call) => call.ordinals)).toEqual([[0, 1]]);
  });

  // Refused arguments and validated params are different things, even where their JSON is the same.
  test('a refused call never stands for one that can run', async () => {
    const parse = toolThat((value) => {
      const n = (value as { n: unknown }).n;
      return typeof n === 'string' ? { value: { n: Number(n) } } : { issues: [{ message: 'wanted text' }] };
    });
    const { calls } = await plan([parse], asked([{ n: 1 }, { n: '1' }]));
    expect(calls.map((call) => call.verdict)).toEqual(['settled', 'start']);
    expect(calls[0]?.content.paramsDigest).not.toBe(calls[1]?.content.paramsDigest);
  });

  test('params that look like a note of ours are params', async () => {
    const { calls } = await plan(
      [anyTool()],
      [
        { toolName: 'tool', input: null, invalidInput: 'x' },
        { toolName: 'tool', input: { $invalid: 'x' } },
      ],
    );
    expect(calls.map((call) => call.verdict)).toEqual(['settled', 'start']);
  });

  test('a call without a name is not a call of a tool that is named as we name it', async () => {
    const { calls } = await plan([anyTool({ name: 'unnamed' })], [{ toolName: '', input: {} }]);
    expect(calls).toMatchObject([{ verdict: 'settled', content: { settled: { error: { code: 'TOOL_UNKNOWN' } } } }]);
  });
});

describe("C32 the provider's ids are kept and are never identity", () => {
  test.each<[string, (string | undefined)[]]>([
    ['empty', ['', '', '']],
    ['shared', ['call_1', 'call_1', 'call_1']],
    ['absent', [undefined, undefined, undefined]],
    ['odd', ['a b/c:d|e"', '\u{1F600}', '.'.repeat(300)]],
  ])('%s ids', async (_title, ids) => {
    const calls = ids.map((id, n) => ({
      toolName: 'tool',
      input: { n },
      ...(id === undefined ? {} : { providerCallId: id }),
    }));
    const planned = await plan([anyTool()], calls);
    expect(planned.calls.map((call) => call.ordinals)).toEqual([[0], [1], [2]]);
    expect(planned.calls.map((call) => call.content.providerCallId)).toEqual(ids.map((id) => id ?? null));
    expect(planned.parts).toMatchObject(ids.map((id) => ({ providerCallId: id ?? null })));
  });

  test('each part keeps its own id, also where two calls are one execution', async () => {
    const calls = ['first', 'second'].map((providerCallId) => ({ toolName: 'tool', input: {}, providerCallId }));
    const { parts } = await plan([anyTool()], calls);
    expect(parts).toMatchObject([{ providerCallId: 'first' }, { providerCallId: 'second' }]);
  });

  test('C34 C35 what cannot be stored is replaced, in ids, names and metadata', async () => {
    const call = { toolName: 'to\u0000ol', input: {}, providerCallId: 'a\uD800', providerMetadata: { s: '\u0000' } };
    const { calls, parts } = await plan([anyTool()], [call]);
    expect(calls[0]?.content).toMatchObject({
      toolName: 'to\uFFFDol',
      providerCallId: 'a\uFFFD',
      normalised: ['/toolName', '/providerCallId'],
    });
    expect(parts).toMatchObject([{ providerCallId: 'a\uFFFD', providerMetadata: call.providerMetadata }]);
  });

  test('C35 a long name is cut between characters, never within one', async () => {
    const { calls } = await plan([], [{ toolName: `${'n'.repeat(127)}\u{1F600}\u{1F600}`, input: {} }]);
    expect(calls[0]?.content.toolName).toBe(`${'n'.repeat(127)}\u{1F600}`);
  });
});

describe('how many run side by side', () => {
  test('the first ones start, the others wait for a slot, and what is settled takes none', async () => {
    const planning = planningWith([anyTool()], { maxParallelTools: 2 });
    const calls = [{ toolName: 'gone', input: {} }, ...asked([1, 2, 3, 4])];
    const planned = await planCalls(planning, calls);
    expect(planned.calls.map((call) => call.verdict)).toEqual(['settled', 'start', 'start', 'queue', 'queue']);
  });

  test('any plan is one that the machine takes', async () => {
    const planning = planningWith([anyTool(), refund], { maxParallelTools: 2 });
    const calls = [...asked([1, 1, 2, 3, 1, 4]), { toolName: 'refund', input: {} }, { toolName: 'gone', input: 1 }];
    const planned: PlannedCall[] = (await planCalls(planning, calls)).calls;
    expect(
      planOpenCalls(planned)
        ?.flatMap((call) => call.ordinals)
        .sort(),
    ).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});

function plan(tools: Parameters<typeof planningWith>[0], calls: ModelToolCall[]) {
  const planning: Planning = planningWith(tools);
  return planCalls(planning, calls);
}

/** A call of `tool` with each of `inputs`. */
function asked(inputs: unknown[]): ModelToolCall[] {
  return inputs.map((input) => ({ toolName: 'tool', input }));
}
