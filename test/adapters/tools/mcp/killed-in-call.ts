import { expect } from 'vitest';
import { callTool, connect, mcpWorld, startHttp } from '../../../support/mcp/mcp-world.ts';

/** A server that dies in a call, whose answers are of `kind`: unknown; while it is away nothing is sent; back again, it has a new session. */
export async function expectKilledInCall(kind: 'stream' | 'json'): Promise<void> {
  const world = await mcpWorld();
  const { child, url, port } = await startHttp(world, kind);
  const { tools } = await connect({ url });
  await expect(callTool(tools, 'charge', { mode: 'die' })).rejects.toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN' });
  await child.exited;
  await expect(callTool(tools, 'charge', { mode: 'text' })).rejects.toMatchObject({
    code: 'TOOL_SERVER_FAILED',
    message: expect.stringMatching(/^no use of the MCP server world: .*ECONNREFUSED/),
  });
  await startHttp(world, kind, port);
  expect(await callTool(tools, 'charge', { mode: 'text' })).toBe('done');
  expect(world.lines('called').map(({ mode }) => mode)).toEqual(['die', 'text']);
}
