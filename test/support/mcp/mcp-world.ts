import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tool as SdkTool } from '@modelcontextprotocol/sdk/types.js';
import { type McpServer, type McpSettings, mcp } from '../../../adapters/tools/mcp.ts';
import type { Tool, ToolContext } from '../../../adapters/tools/tool.contract.ts';
import { LIMITS } from '../../../limits.ts';
import { RunScratchpad } from '../../../runtime/working-state/run-scratchpad.ts';
import { atTestEnd } from '../at-test-end.ts';
import { spawnChild } from '../child.ts';
import type { Child } from '../start-child.ts';
import type { WorldLine } from './world-server.ts';

/** A folder of a server's own: its ledger, and what it offers. */
export interface McpWorld {
  readonly folder: string;
  lines(event?: WorldLine['event']): WorldLine[];
  offer(tools: SdkTool[]): void;
}

/** Makes a world in which nothing has happened. */
export async function mcpWorld(): Promise<McpWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'turnlock-mcp-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  const ledger = join(folder, 'ledger');
  return {
    folder,
    lines(event) {
      const all = existsSync(ledger) ? readFileSync(ledger, 'utf8').trimEnd().split('\n') : [];
      return all
        .map((line): WorldLine => JSON.parse(line))
        .filter((line) => event === undefined || line.event === event);
    },
    offer: (tools) => writeFileSync(join(folder, 'offer.json'), JSON.stringify(tools)),
  };
}

/** How a server of the tests is started over standard input and output. */
export function stdioOf({ folder }: McpWorld, kind = 'ordinary') {
  return { command: process.execPath, args: ['test/support/mcp/stdio-server.child.ts', folder, kind] };
}

/** A server over HTTP in a process of its own; with `port`, where one was before. */
export async function startHttp(
  world: McpWorld,
  kind = 'stream',
  port = 0,
): Promise<{ child: Child; url: string; port: number }> {
  const child = spawnChild('test/support/mcp/http-server.child.ts', { args: [world.folder, String(port), kind] });
  const { port: found } = await child.next('ready');
  return { child, url: `http://127.0.0.1:${found}/mcp`, port: Number(found) };
}

/** Connects; closed at the test's end. What is warned of is collected. */
export async function connect(
  transport: McpSettings['transport'],
  more: Partial<McpSettings> = {},
): Promise<McpServer & { warnings: { code: string; message: string }[] }> {
  const warnings: { code: string; message: string }[] = [];
  const server = await mcp({
    name: 'world',
    transport,
    onWarning: (warning) => warnings.push(warning),
    connectTimeoutMs: 60_000,
    ...more,
  });
  atTestEnd(() => server.close());
  return Object.assign(server, { warnings });
}

/** Calls one of the tools as the runtime does. */
export async function callTool(
  tools: readonly Tool[],
  name: string,
  params: Record<string, unknown>,
  context: Partial<ToolContext> = {},
): Promise<unknown> {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return await tool.execute(params, {
    idempotencyKey: 'key-1',
    fencingToken: 7,
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
    ...context,
  });
}
