import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { callTool, connect, mcpWorld, startHttp } from '../../../support/mcp/mcp-world.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { expectKilledInCall } from './killed-in-call.ts';

/** A server that is reached by streamable HTTP, in a process of its own. */

// Processes are started: on a machine that is busy that takes its time.
vi.setConfig({ testTimeout: 60_000 });

test.each(['stream', 'json'])('its tools are listed and called, answers as %s', async (kind) => {
  const world = await mcpWorld();
  const { url } = await startHttp(world, kind);
  const { tools } = await connect({ url });
  expect(tools.map(({ name }) => name)).toEqual(['charge', 'look', 'put']);
  expect(await callTool(tools, 'charge', { mode: 'text', say: 'paid' })).toBe('paid');
  expect(world.lines('called')[0]?.meta).toMatchObject({ 'turnlock/idempotencyKey': 'key-1' });
});

test('killed during a call: unknown; while it is away nothing is sent; back again, it has a new session', () =>
  expectKilledInCall('stream'));

test('a session that the server has forgotten is made anew, and a call that is out goes on undisturbed', async () => {
  const world = await mcpWorld();
  const { child, url } = await startHttp(world);
  const { tools } = await connect({ url });
  const slow = callTool(tools, 'charge', { mode: 'waitForGo' });
  await waitFor(() => world.lines('called').length === 1, { for: 'the call' });
  child.send({ type: 'forgetSessions' });
  await child.next('forgot');
  expect(await callTool(tools, 'look', { mode: 'text' })).toBe('done');
  writeFileSync(join(world.folder, 'go'), '');
  expect(await slow).toBe('went');
  expect(world.lines('started')).toHaveLength(2);
  expect(world.lines('called')).toHaveLength(2);
});

test('a server that refuses us: the reason is said without the header that it repeats', async () => {
  const { url } = await startHttp(await mcpWorld());
  const headers = { authorization: 'Bearer refused-token-1234' };
  const error: unknown = await connect({ url, headers }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'TOOL_SERVER_FAILED', message: expect.stringContaining('refused') });
  expect(String(error)).not.toContain('refused-token-1234');
});
