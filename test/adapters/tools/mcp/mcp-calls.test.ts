import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { McpSettings } from '../../../../adapters/tools/mcp.ts';
import { type Answer, answeringFetch, listed } from '../../../support/mcp/answering-fetch.ts';
import { callTool, connect } from '../../../support/mcp/mcp-world.ts';

/** A server with one tool, `refund`, whose calls are answered by `answer`. */
function server(answer: Answer, more: Partial<McpSettings> = {}, tools: unknown[] = [listed('refund')]) {
  return connect({ url: 'http://world.invalid/mcp', fetch: answeringFetch(tools, answer) }, more);
}

/** What a call comes to that is answered with `result`. */
async function outcomeOf(result: unknown): Promise<unknown> {
  const { tools } = await server((method) => (method === 'tools/call' ? result : undefined));
  return await callTool(tools, 'refund', {});
}

describe('results', () => {
  const bytes = Buffer.from('bytes');
  const data = bytes.toString('base64');
  const omitted = { omittedBytes: 5, sha256: createHash('sha256').update(bytes).digest('hex') };
  const text = (words: string) => ({ type: 'text', text: words });

  test.each<[string, unknown, unknown]>([
    ['one text is the text', { content: [text('paid')] }, 'paid'],
    ['several are lines', { content: [text('a'), text('b')] }, 'a\nb'],
    ['nothing is null', { content: [] }, null],
    [
      'structured content, repeated as text, is itself',
      { content: [text('{ "a": 1 }')], structuredContent: { a: 1 } },
      { a: 1 },
    ],
    ['structured content alone is itself', { structuredContent: { a: 1 } }, { a: 1 }],
    [
      'what else is said beside structured content is kept',
      { content: [text('one')], structuredContent: { a: 1 } },
      { structuredContent: { a: 1 }, content: [text('one')] },
    ],
    [
      'bytes are said by size and hash, and what is for clients alone is left out',
      {
        content: [
          { ...text('a picture'), _meta: { x: 1 } },
          { type: 'image', data, mimeType: 'image/png' },
          { type: 'audio', data, mimeType: 'audio/wav' },
          { type: 'resource', resource: { uri: 'file:///a', mimeType: 'x/y', blob: data, _meta: {} } },
          { type: 'resource', resource: { uri: 'file:///b', text: 'words' } },
          { type: 'resource_link', uri: 'file:///c', name: 'c' },
        ],
      },
      [
        text('a picture'),
        { type: 'image', mimeType: 'image/png', ...omitted },
        { type: 'audio', mimeType: 'audio/wav', ...omitted },
        { type: 'resource', resource: { uri: 'file:///a', mimeType: 'x/y', ...omitted } },
        { type: 'resource', resource: { uri: 'file:///b', text: 'words' } },
        { type: 'resource_link', uri: 'file:///c', name: 'c' },
      ],
    ],
    [
      'what is no list of parts stands as it came: the tool has run',
      { content: 'paid', more: 1 },
      { content: 'paid', more: 1 },
    ],
    ['parts that are none, too', { content: ['paid', null] }, { content: ['paid', null] }],
    ['a task that nobody asked for, too', { task: { taskId: 't' } }, { task: { taskId: 't' } }],
  ])('%s', async (_, result, output) => {
    expect(await outcomeOf(result)).toEqual(output);
  });

  test.each<[string, unknown, string]>([
    [
      'its text',
      { isError: true, content: [text('no such order!'), text('Look again.')] },
      'no such order!\nLook again.',
    ],
    ['its structured content', { isError: true, content: [], structuredContent: { why: 'no' } }, '{"why":"no"}'],
    ['its other parts', { isError: true, content: [{ type: 'image', data: '' }] }, '"omittedBytes":0'],
    ['that it says nothing', { isError: true, content: [] }, 'The tool failed and did not say why.'],
  ])('a result that is an error is a failure with %s', async (_, result, message) => {
    await expect(outcomeOf(result)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining(message),
    });
  });

  test('an answer that is an error of the protocol is a failure', async () => {
    const error = { code: -32_602, message: 'no tool of that name' };
    const answer = Response.json({ jsonrpc: '2.0', id: 2, error });
    await expect(outcomeOf(answer)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining(error.message),
    });
  });

  test.each([-32_603, -32_000, -32_001])(
    'an error of the protocol that says nothing of the act is no failure: %i',
    async (code) => {
      const answer = Response.json({ jsonrpc: '2.0', id: 2, error: { code, message: 'the bank could not be read' } });
      await expect(outcomeOf(answer)).rejects.toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN', outcome: 'unknown' });
    },
  );
});

describe('what is sent once more', () => {
  /** How often a call was sent whose first answer is `status`, over a connection to which the server gave a session or not. */
  async function timesSent(status: number, hasSession: boolean): Promise<number> {
    let sent = 0;
    const inner = answeringFetch([listed('refund')], (method) => {
      if (method === 'initialize' && hasSession) return sessionGiven();
      if (method !== 'tools/call') return undefined;
      sent += 1;
      return sent === 1 ? new Response('booked, but no receipt was found', { status }) : undefined;
    });
    const { tools } = await connect({ url: 'http://world.invalid/mcp', fetch: inner }, {});
    await callTool(tools, 'refund', {}).catch(() => undefined);
    return sent;
  }

  test.each([
    ['404, and it knows the session no more', 404, true, 2],
    ['404, and there was no session', 404, false, 1],
    ['400', 400, true, 1],
    ['400, and there was no session', 400, false, 1],
  ])('a server that answers %s', async (_, status, hasSession, times) => {
    expect(await timesSent(status, hasSession)).toBe(times);
  });

  function sessionGiven(): Response {
    const serverInfo = { name: 'function', version: '1.0.0' };
    const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
    return Response.json({ jsonrpc: '2.0', id: 0, result }, { headers: { 'mcp-session-id': 'session-1' } });
  }
});

describe('answers over HTTP', () => {
  test.each<[string, () => Response, string]>([
    ...[400, 401, 403, 404, 413, 429].map((status): [string, () => Response, string] => [
      `${status}, by which it is refused,`,
      () => new Response('no', { status }),
      'TOOL_SERVER_FAILED',
    ]),
    ...[302, 408, 500, 502, 503].map((status): [string, () => Response, string] => [
      `${status}`,
      () => new Response('no', { status }),
      'TOOL_OUTCOME_UNKNOWN',
    ]),
    [
      'what is no JSON',
      () => new Response('{', { headers: { 'content-type': 'application/json' } }),
      'TOOL_OUTCOME_UNKNOWN',
    ],
    ['a page', () => new Response('<p>', { headers: { 'content-type': 'text/html' } }), 'TOOL_OUTCOME_UNKNOWN'],
    [
      'a stream without an answer',
      () => new Response('', { headers: { 'content-type': 'text/event-stream' } }),
      'TOOL_OUTCOME_UNKNOWN',
    ],
    [
      'more than ten mebibytes',
      () => new Response('x'.repeat(11 * 1024 * 1024), { headers: { 'content-type': 'application/json' } }),
      'TOOL_OUTCOME_UNKNOWN',
    ],
  ])('a call that is answered with %s is told as what it is', async (_, answer, code) => {
    const { tools } = await server((method) => (method === 'tools/call' ? answer() : undefined));
    await expect(callTool(tools, 'refund', {})).rejects.toMatchObject({ code });
  });

  test('a connection that breaks: unknown, unless it never was', async () => {
    for (const [cause, code] of [
      ['ECONNRESET', 'TOOL_OUTCOME_UNKNOWN'],
      ['UND_ERR_HEADERS_TIMEOUT', 'TOOL_OUTCOME_UNKNOWN'],
      ['ECONNREFUSED', 'TOOL_SERVER_FAILED'],
      ['CERT_HAS_EXPIRED', 'TOOL_SERVER_FAILED'],
    ] as const) {
      const { tools } = await server((method) => {
        if (method !== 'tools/call') return undefined;
        throw new TypeError('fetch failed', { cause: Object.assign(new Error(cause), { code: cause }) });
      });
      await expect(callTool(tools, 'refund', {}), cause).rejects.toMatchObject({ code });
    }
  });
});

describe('a list that changes', () => {
  const look = listed('look', { annotations: { readOnlyHint: true } });

  test('refresh: new tools are there, warnings say what changed, and calls of what is gone fail with nothing sent', async () => {
    const tools = [listed('refund'), look, listed('unused')];
    const called: unknown[] = [];
    const note: Answer = (method, { name }) => void (method === 'tools/call' && called.push(name));
    const made = await server(note, { trustAnnotations: true, include: ['refund', 'look'] }, tools);
    const before = made.tools;
    tools.splice(
      0,
      3,
      listed('refund', { inputSchema: { type: 'object', required: ['id'] } }),
      listed('look'),
      listed('new'),
    );
    await made.refresh();
    expect(made.warnings).toEqual([]);
    expect(made.tools.map(({ name, effect }) => [name, effect])).toEqual([
      ['refund', 'nonRepeatable'],
      ['look', 'nonRepeatable'],
    ]);
    await expect(callTool(before, 'look', {})).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: 'The MCP server world no longer says that look is readOnly. Nothing was sent.',
    });
    expect(await callTool(made.tools, 'look', {})).toBe('look');
    tools.splice(0, 1);
    await expect(made.refresh()).rejects.toMatchObject({ code: 'DEFINITION_INVALID' });
    await expect(callTool(made.tools, 'refund', {})).rejects.toMatchObject({
      message: 'The MCP server world has no tool refund any more. Nothing was sent.',
    });
    expect(called).toEqual(['look']);
  });

  test('what a person has said of a tool stays, whatever its server says now', async () => {
    const tools = [look];
    const made = await server(
      () => undefined,
      { trustAnnotations: true, tools: { look: { effect: 'readOnly' } } },
      tools,
    );
    const before = made.tools;
    tools.splice(0, 1, listed('look'));
    await made.refresh();
    expect(await callTool(before, 'look', {})).toBe('look');
  });
});
