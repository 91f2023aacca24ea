import { describe, expect, test } from 'vitest';
import type { McpSettings } from '../../../../adapters/tools/mcp.ts';
import { cannotTell, deny } from '../../../../index.ts';
import { type Answer, answeringFetch, listed } from '../../../support/mcp/answering-fetch.ts';
import { callTool, connect } from '../../../support/mcp/mcp-world.ts';

/** Connects to a server that has `tools`. */
function server(tools: unknown[], more: Partial<McpSettings> = {}, answer?: Answer) {
  return connect({ url: 'http://world.invalid/mcp', fetch: answeringFetch(tools, answer) }, more);
}

async function namesOf(tools: unknown[], more: Partial<McpSettings> = {}): Promise<string[]> {
  return (await server(tools, more)).tools.map(({ name }) => name);
}

describe('names', () => {
  const long = 'x'.repeat(100);

  test('other characters become _, what is too long is cut and told apart, and the server is called by its own name', async () => {
    const { tools } = await server(
      ['a.b/c d', 'ärger', long, `${long}2`].map((name) => listed(name)),
      { prefix: 'w_' },
    );
    const names = tools.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['w_a_b_c_d', 'w__rger']);
    expect(names.slice(2).every((name) => /^w_x{53}_[0-9a-f]{8}$/.test(name))).toBe(true);
    expect(new Set(names).size).toBe(4);
    expect(await callTool(tools, 'w_a_b_c_d', {})).toBe('a.b/c d');
    expect(await namesOf([listed(long)])).toEqual(await namesOf([listed(long)]));
  });

  test('two that fall together are an error that names both; a name in the settings tells them apart', async () => {
    const tools = [listed('a.b'), listed('a b')];
    await expect(server(tools)).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      message: expect.stringMatching(/a_b .*"a\.b" and "a b"/),
    });
    expect(await namesOf(tools, { tools: { 'a b': { name: 'other' } } })).toEqual(['a_b', 'other']);
    await expect(server(tools, { tools: { 'a b': { name: 'o ther' } } })).rejects.toMatchObject({
      code: 'TOOL_NAME_INVALID',
    });
  });

  test('only what include names is taken, and what is left out need not be sound', async () => {
    const tools = [
      listed('good'),
      listed('task', { execution: { taskSupport: 'required' } }),
      listed('odd', { inputSchema: 7 }),
    ];
    expect(await namesOf(tools, { include: ['good'] })).toEqual(['good']);
    await expect(server(tools)).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      message: expect.stringContaining('task'),
    });
  });

  test.each<[string, Partial<McpSettings>, string]>([
    ['settings of', { tools: { refnd: { effect: 'readOnly' } } }, '"refnd" in `tools` (found refund)'],
    ['include of', { include: ['refnd'] }, '"refnd" in `include` (found refund)'],
    [
      'settings of what include leaves out and',
      { tools: { refund: {} }, include: [] },
      '"refund" in `tools` (found none)',
    ],
    ['a name of every object in', { tools: { constructor: {} } }, '"constructor" in `tools`'],
  ])('%s a tool that is not there are an error', async (_, more, says) => {
    await expect(server([listed('refund')], more)).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      message: expect.stringContaining(says),
    });
  });
});

describe('effect classes', () => {
  const tools = [
    listed('none'),
    listed('look', { annotations: { readOnlyHint: true, destructiveHint: false } }),
    listed('put', { annotations: { idempotentHint: true } }),
    listed('text', { annotations: { readOnlyHint: 'true' } }),
    listed('both', { annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: true } }),
  ];
  const effects = async (more: Partial<McpSettings>) => (await server(tools, more)).tools.map(({ effect }) => effect);

  test('what a server says of its tools is not believed unless it is trusted', async () => {
    expect(await effects({})).toEqual(Array(5).fill('nonRepeatable'));
    expect(await effects({ trustAnnotations: true })).toEqual([
      'nonRepeatable',
      'readOnly',
      'idempotent',
      'nonRepeatable',
      'nonRepeatable',
    ]);
  });

  test('what the settings say of a tool counts in either case', async () => {
    const settings = {
      none: { effect: 'idempotent', timeoutMs: 5, repeatable: true, description: 'Mine.' },
      look: { effect: 'nonRepeatable' },
    } as const;
    const { tools: made } = await server(tools, { trustAnnotations: true, tools: settings });
    expect(made[0]).toMatchObject({ effect: 'idempotent', timeoutMs: 5, repeatable: true, description: 'Mine.' });
    expect(made[1]).toMatchObject({ effect: 'nonRepeatable', description: 'Does look.' });
  });

  test('a policy and what reconciles a call are those of the settings', async () => {
    const policy = () => deny('no money today');
    const reconcile = () => cannotTell();
    const { tools: made } = await server(tools, {
      tools: { none: { policy, retry: { attempts: 2 } }, put: { effect: 'reconcilable', reconcile } },
    });
    expect(made[0]).toMatchObject({ policy, retry: { attempts: 2 } });
    expect(made[2]).toMatchObject({ effect: 'reconcilable', reconcile });
  });

  test.each([{ effect: 'transactional' }, { effect: 'sometimes' }, { polcy: 1 }])('%j is refused', async (settings) => {
    await expect(server(tools, { tools: { none: settings as never } })).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
    });
  });
});

describe('input schemas', () => {
  const inputSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://same.invalid/for-all',
    type: 'object',
    properties: { orderId: { type: 'integer' }, to: { type: 'string', format: 'email' } },
    required: ['orderId'],
    additionalProperties: false,
  };

  test('the model sees the schema of the server, and params are validated against it', async () => {
    const other = { ...inputSchema, required: ['to'] };
    const { tools } = await server([listed('refund', { inputSchema }), listed('other', { inputSchema: other })]);
    const [refund, second] = tools.map((tool) => tool.inputSchema['~standard']);
    expect(tools[0]?.inputJsonSchema).toEqual(inputSchema);
    expect(await refund?.validate({ orderId: 1 })).toEqual({ value: { orderId: 1 } });
    for (const wrong of [{}, { orderId: 'x' }, { orderId: 1, to: 'nobody' }, { orderId: 1, more: 1 }, 7, null]) {
      expect(await refund?.validate(wrong)).toMatchObject({ issues: [{ message: expect.stringMatching(/data/) }] });
    }
    expect(await second?.validate({ orderId: 1 })).toHaveProperty('issues');
  });

  test.each([
    ['refers to what is not in it', { $ref: 'https://elsewhere.invalid/schema' }],
    ['has no sound pattern', { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }],
  ])('one that %s is an error that names the tool', async (_, broken) => {
    await expect(server([listed('refund', { inputSchema: broken })])).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      message: expect.stringContaining('inputSchema of refund'),
    });
  });
});

describe('output schemas', () => {
  const outputSchema = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };

  test('the structured content is held against that of the server, whatever is said beside it', async () => {
    const { tools } = await server([
      listed('sum', { outputSchema }),
      listed('none'),
      listed('odd', { outputSchema: { $ref: '#/x' } }),
    ]);
    const [sum, none, odd] = tools;
    const validate = async (value: unknown) => await sum?.outputSchema?.['~standard'].validate(value);
    expect(await validate({ total: 1 })).toEqual({ value: { total: 1 } });
    const beside = { structuredContent: { total: 1 }, content: [{ type: 'text', text: 'one' }] };
    expect(await validate(beside)).toEqual({ value: beside });
    expect(await validate({ total: 'one' })).toHaveProperty('issues');
    expect(await validate({ ...beside, structuredContent: {} })).toHaveProperty('issues');
    expect([none?.outputSchema, odd?.outputSchema]).toEqual([null, null]);
  });
});

describe('lists', () => {
  test.each<[string, Answer]>([
    ['that has no end', (method) => (method === 'tools/list' ? { tools: [], nextCursor: 'on' } : undefined)],
    [
      'of too many tools',
      (method) =>
        method === 'tools/list' ? { tools: Array.from({ length: 1_001 }, (_, n) => listed(`t${n}`)) } : undefined,
    ],
    ['with a name twice', (method) => (method === 'tools/list' ? { tools: [listed('a'), listed('a')] } : undefined)],
    ['that is none', (method) => (method === 'tools/list' ? { tools: 'none' } : undefined)],
  ])('one %s is an error', async (_, answer) => {
    await expect(server([], {}, answer)).rejects.toMatchObject({ code: 'TOOL_SERVER_FAILED' });
  });

  test('a server without tools has none', async () => {
    const initialised = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } };
    const { tools } = await server([listed('a')], {}, (method) => (method === 'initialize' ? initialised : undefined));
    expect(tools).toEqual([]);
  });
});
