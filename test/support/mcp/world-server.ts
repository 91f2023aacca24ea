import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type Tool } from '@modelcontextprotocol/sdk/types.js';

/** A line of the ledger that an MCP server of the tests keeps outside of everything. */
export interface WorldLine {
  event: 'started' | 'called' | 'acted' | 'cancelled';
  pid: number;
  tool?: string;
  mode?: unknown;
  meta?: Record<string, unknown>;
}

/** How a tool of the server behaves, as its params say. */
type Mode = (params: Record<string, unknown>, signal: AbortSignal, folder: string) => unknown;

const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
const PIXEL = 'iVBORw0KGgo=';

function never(signal: AbortSignal): Promise<never> {
  const alive = setInterval(() => undefined, 1_000);
  signal.addEventListener('abort', () => clearInterval(alive));
  return new Promise(() => undefined);
}

const MODES: Record<string, Mode> = {
  text: ({ say = 'done' }) => text(String(say)),
  hang: (_, signal) => never(signal),
  waitForGo: async (_, __, folder) => {
    while (!existsSync(join(folder, 'go'))) await pause(10);
    return text('went');
  },
  dieOnce: (_, __, folder) => {
    if (existsSync(join(folder, 'died'))) return text('done');
    writeFileSync(join(folder, 'died'), '');
    return process.kill(process.pid, 'SIGKILL') && new Promise(() => undefined);
  },
  die: () => process.kill(process.pid, 'SIGKILL') && new Promise(() => undefined),
  fail: ({ say = 'no such order' }) => ({ isError: true, ...text(String(say)) }),
  failSilently: () => ({ isError: true, content: [] }),
  throw: () => {
    throw new Error('the server broke');
  },
  environment: () => text(JSON.stringify(process.env)),
  empty: () => ({ content: [] }),
  huge: ({ bytes }) => text('x'.repeat(Number(bytes))),
  structured: () => ({ structuredContent: { total: 3 }, ...text('{"total":3}') }),
  both: () => ({ structuredContent: { total: 3 }, ...text('three in all') }),
  parts: () => ({
    content: [
      { type: 'text', text: 'a picture', _meta: { only: 'for clients' } },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'application/octet-stream', blob: PIXEL } },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'words' } },
      { type: 'resource_link', uri: 'file:///b.txt', name: 'b' },
    ],
  }),
};

const SCHEMA = {
  type: 'object' as const,
  properties: {
    mode: { type: 'string', enum: [...Object.keys(MODES), 'announce'] },
    say: { type: 'string' },
    bytes: { type: 'integer' },
  },
  required: ['mode'],
};

/** What the server has, unless `offer.json` in its folder says otherwise. */
export const OFFER: Tool[] = [
  { name: 'charge', description: 'Charges.', inputSchema: SCHEMA },
  { name: 'look', description: 'Looks.', inputSchema: SCHEMA, annotations: { readOnlyHint: true } },
  { name: 'put', description: 'Puts.', inputSchema: SCHEMA, annotations: { idempotentHint: true } },
];

/** An MCP server with a ledger in `folder`: one page for each tool, so that lists have several. */
export function worldServer(folder: string): Server {
  const write = (line: Omit<WorldLine, 'pid'>) =>
    appendFileSync(join(folder, 'ledger'), `${JSON.stringify({ ...line, pid: process.pid })}\n`);
  const server = new Server({ name: 'world', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const tools = offerOf(folder);
    const page = Number(params?.cursor ?? 0);
    return { tools: tools.slice(page, page + 1), ...(page + 1 < tools.length ? { nextCursor: String(page + 1) } : {}) };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, _meta: meta }) => {
    const { name: tool, arguments: given = {} } = params;
    const { mode } = given;
    if (mode === 'announce') await server.sendToolListChanged();
    write({ event: 'called', tool, mode, ...(meta === undefined ? {} : { meta }) });
    signal.addEventListener('abort', () => write({ event: 'cancelled', tool, mode }));
    const result = (await MODES[String(mode)]?.(given, signal, folder)) ?? text('no such mode');
    write({ event: 'acted', tool, mode });
    return result as { content: [] };
  });
  write({ event: 'started' });
  return server;
}

function offerOf(folder: string): Tool[] {
  const file = join(folder, 'offer.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : OFFER;
}
