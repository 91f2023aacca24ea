import type { StandardSchemaV1 } from '@standard-schema/spec';
import { dynamicTool, jsonSchema, type Tool as SdkTool, type ToolSet, tool, zodSchema } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fromAiSdk } from '../../../adapters/tools/from-ai-sdk.ts';
import type { Tool, ToolContext } from '../../../adapters/tools/tool.contract.ts';
import { LIMITS } from '../../../limits.ts';
import { RunScratchpad } from '../../../runtime/working-state/run-scratchpad.ts';

const context: ToolContext = {
  idempotencyKey: 'tl1_key',
  fencingToken: 3,
  signal: new AbortController().signal,
  tenantId: 'tenant',
  userId: 'user',
  sessionId: 'session',
  runId: 'run',
  executionId: 'execution',
  attempt: 1,
  claim: null,
  memory: { recall: async () => [] },
  scratchpad: new RunScratchpad(LIMITS),
};

const order = z.object({ id: z.number(), note: z.string().default('none') });

function one(given: SdkTool, settings = {}): Tool {
  return fromAiSdk({ lookup: given } as ToolSet, { lookup: settings })[0] as Tool;
}

async function issuesOf(schema: Tool['inputSchema'], value: unknown) {
  const { issues = [] } = (await schema['~standard'].validate(value)) as StandardSchemaV1.FailureResult;
  return issues.map(({ path = [], message }) => [path.join('.'), message]);
}

describe('a tool of the SDK', () => {
  test('keeps name, description and schema, and gets the safe class', () => {
    const tools = fromAiSdk({
      lookup: tool({ description: 'Looks up.', inputSchema: order, execute: async ({ id }) => id }),
      other: dynamicTool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => 1 }),
    });
    expect(
      tools.map(({ name, description, effect, repeatable, timeoutMs }) => [
        name,
        description,
        effect,
        repeatable,
        timeoutMs,
      ]),
    ).toEqual([
      ['lookup', 'Looks up.', 'nonRepeatable', false, null],
      ['other', '', 'nonRepeatable', false, null],
    ]);
    expect(tools[0]?.inputJsonSchema).toMatchObject({
      type: 'object',
      properties: { id: { type: 'number' } },
      required: ['id'],
    });
  });

  test('takes what the SDK does not know from the settings', () => {
    const given = tool({ description: 'x', inputSchema: order, execute: async () => 1 });
    const settings = { effect: 'readOnly', repeatable: true, timeoutMs: 5, description: 'Better.' } as const;
    expect(one(given, settings)).toMatchObject(settings);
  });

  test('is run with the input, our execution id, signal and context, and no messages', async () => {
    const seen: unknown[] = [];
    const lookup = tool({
      inputSchema: order,
      execute: async (input, options) => {
        seen.push(input, options);
        return 'found';
      },
    });
    expect(await one(lookup).execute({ id: 1 }, context)).toBe('found');
    expect(seen).toEqual([
      { id: 1 },
      { toolCallId: 'execution', messages: [], abortSignal: context.signal, context, experimental_context: context },
    ]);
  });

  test('gets the context that its schema describes', async () => {
    const lookup = tool({
      inputSchema: order,
      contextSchema: z.object({ tenant: z.string() }),
      execute: async (_, { context: given }) => given,
    });
    const made = one(lookup, { context: ({ tenantId }: ToolContext) => ({ tenant: tenantId, more: 1 }) });
    expect(await made.execute({ id: 1 }, context)).toEqual({ tenant: 'tenant' });
    const wrong = one(lookup, { context: () => ({ tenant: 1 }) });
    await expect(wrong.execute({ id: 1 }, context)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  test('that yields gives its last value', async () => {
    const lookup = tool({
      inputSchema: order,
      async *execute() {
        yield 'looking';
        yield { found: 1 };
      },
    });
    expect(await one(lookup).execute({ id: 1 }, context)).toEqual({ found: 1 });
  });

  test('that yields nothing, or returns nothing, gives null', async () => {
    const nothing = tool({ inputSchema: order, async *execute(): AsyncGenerator<string> {} });
    expect(await one(nothing).execute({ id: 1 }, context)).toBeNull();
    expect(
      await one(tool({ inputSchema: order, execute: async () => undefined })).execute({ id: 1 }, context),
    ).toBeNull();
  });

  test('may return what the SDK turns into JSON', async () => {
    const at = new Date(0);
    const row = { at, total: { toJSON: () => '1.00' }, none: undefined };
    expect(await one(tool({ inputSchema: order, execute: async () => row })).execute({ id: 1 }, context)).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      total: '1.00',
    });
  });

  test('that returns what no JSON holds has still run: the value passes to the runtime', async () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    expect(await one(tool({ inputSchema: order, execute: async () => cyclic })).execute({ id: 1 }, context)).toBe(
      cyclic,
    );
  });

  test('that throws, throws', async () => {
    const execute = async (): Promise<string> => {
      throw new Error('no such order');
    };
    await expect(one(tool({ inputSchema: order, execute })).execute({ id: 1 }, context)).rejects.toThrow(
      'no such order',
    );
  });
});

describe('a schema', () => {
  const properties = { id: { type: 'number' } } as const;
  const execute = async () => 1;

  test.each<[string, SdkTool]>([
    ['of Zod', tool({ inputSchema: order, execute })],
    ['that is lazy', tool({ inputSchema: (() => zodSchema(order)) as never, execute })],
    ['that the SDK made of Zod', tool({ inputSchema: zodSchema(order), execute })],
    [
      'of another maker',
      tool({ inputSchema: { '~standard': { ...order['~standard'], vendor: 'other' } } as never, execute }),
    ],
  ])('%s validates, transforms and says where it fails', async (_, given) => {
    const { inputSchema, inputJsonSchema } = one(given);
    expect(await inputSchema['~standard'].validate({ id: 1 })).toMatchObject({ value: { id: 1, note: 'none' } });
    expect((await issuesOf(inputSchema, { id: 'x' })).map(([path]) => path)).toEqual(['id']);
    expect(inputJsonSchema).toMatchObject({ properties });
  });

  test('that jsonSchema() made lets pass what its validator lets pass', async () => {
    const validate = (value: unknown) =>
      (value as { id?: number }).id === 1
        ? { success: true as const, value: { id: 1 } }
        : { success: false as const, error: new Error('not one') };
    const { inputSchema } = one(
      tool({ inputSchema: jsonSchema<{ id: number }>({ type: 'object', properties }, { validate }), execute }),
    );
    expect(await inputSchema['~standard'].validate({ id: 1 })).toEqual({ value: { id: 1 } });
    expect(await issuesOf(inputSchema, { id: 2 })).toEqual([['', 'not one']]);
  });

  test('that has no validator lets everything pass, as in the SDK', async () => {
    const { inputSchema } = one(tool({ inputSchema: jsonSchema({ type: 'object', properties }), execute }));
    expect(await inputSchema['~standard'].validate({ id: 'x' })).toEqual({ value: { id: 'x' } });
  });
});

describe('refused is', () => {
  const execute = async () => 1;
  const inputSchema = order;

  test.each<[string, ToolSet[string], object]>([
    ['a tool without execute', tool({ inputSchema, outputSchema: z.string() }), {}],
    [
      'a tool that the provider runs',
      { type: 'provider', id: 'a.search', args: {}, isProviderExecuted: true, inputSchema, outputSchema: z.string() },
      {},
    ],
    ['a need of approval that is no answer', tool({ inputSchema, execute, needsApproval: 'yes' as never }), {}],
    [
      'a context for the approval that nobody makes',
      tool({ inputSchema, execute, contextSchema: z.object({ a: z.string() }), needsApproval: () => true }),
      { context: () => ({ a: 'a' }) },
    ],
    ['a context that nobody makes', tool({ inputSchema, execute, contextSchema: z.object({ a: z.string() }) }), {}],
    ['a description that depends on it', tool({ inputSchema, execute, description: () => 'x' }), {}],
    [
      'a schema that comes later',
      tool({ inputSchema: jsonSchema(Promise.resolve({ type: 'object' as const })), execute }),
      {},
    ],
    ['a schema without JSON form', tool({ inputSchema: z.object({ at: z.date() }), execute }), {}],
    ['a class of effect that does not exist', tool({ inputSchema, execute }), { effect: 'harmless' }],
    ['a setting that does not exist', tool({ inputSchema, execute }), { rule: () => 'deny' }],
  ])('%s', (_, given, settings) => {
    expect(() => fromAiSdk({ lookup: given }, { lookup: settings })).toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID' }),
    );
  });

  test('settings of a tool that is not there', () => {
    const lookup = tool({ inputSchema, execute });
    const settings = { lookpu: { effect: 'readOnly' } } as never;
    expect(() => fromAiSdk({ lookup }, settings)).toThrow(/lookpu.*settings without a tool.*lookup/);
  });

  test.each<[string, unknown, unknown?]>([
    ['no tools', undefined],
    ['null', null],
    ['a list', [tool({ inputSchema, execute })]],
    ['settings that are null', {}, null],
    ['a tool that is null', { lookup: null }],
    ['settings of a tool that are null', { lookup: tool({ inputSchema, execute }) }, { lookup: null }],
    ['an input schema that makes no schema', { lookup: { inputSchema: () => 1, execute } }],
  ])('%s', (_, tools, settings) => {
    expect(() => fromAiSdk(tools as ToolSet, settings as never)).toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID' }),
    );
  });

  test('a name that no provider takes', () => {
    expect(() => fromAiSdk({ 'look up': tool({ inputSchema, execute }) })).toThrow(
      expect.objectContaining({ code: 'TOOL_NAME_INVALID' }),
    );
  });
});

test('a tool that the provider defines and that runs here is taken', async () => {
  const bash = {
    type: 'provider',
    id: 'a.bash',
    args: {},
    isProviderExecuted: false,
    inputSchema: order,
    execute: async () => 'ran',
  };
  expect(await one(bash as never, { description: 'Runs a command.' }).execute({ id: 1 }, context)).toBe('ran');
});
