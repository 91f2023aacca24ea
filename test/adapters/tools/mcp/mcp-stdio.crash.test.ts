import { expect, test, vi } from 'vitest';
import { callTool, connect, mcpWorld, stdioOf } from '../../../support/mcp/mcp-world.ts';
import { OFFER } from '../../../support/mcp/world-server.ts';
import { processIsAlive } from '../../../support/process-is-alive.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** A server in a process that we started. */

// Processes are started: on a machine that is busy that takes its time.
vi.setConfig({ testTimeout: 60_000 });

test('its tools are listed over all pages, and a call hands on the key and the token', async () => {
  const world = await mcpWorld();
  const { tools } = await connect(stdioOf(world));
  expect(tools.map(({ name, effect, description }) => [name, effect, description])).toEqual([
    ['charge', 'nonRepeatable', 'Charges.'],
    ['look', 'nonRepeatable', 'Looks.'],
    ['put', 'nonRepeatable', 'Puts.'],
  ]);
  expect(await callTool(tools, 'charge', { mode: 'text', say: 'paid' }, { attempt: 2 })).toBe('paid');
  expect(world.lines('called')).toMatchObject([
    {
      tool: 'charge',
      meta: { 'turnlock/idempotencyKey': 'key-1', 'turnlock/fencingToken': 7, 'turnlock/attempt': 2 },
    },
  ]);
});

test('a server that dies during a call leaves an unknown outcome; the next call starts it again', async () => {
  const world = await mcpWorld();
  const { tools, warnings } = await connect(stdioOf(world));
  await expect(callTool(tools, 'charge', { mode: 'die' })).rejects.toMatchObject({
    code: 'TOOL_OUTCOME_UNKNOWN',
    message: expect.stringContaining('The MCP server world got a call of charge and did not say what came of it'),
  });
  expect(await callTool(tools, 'charge', { mode: 'text' })).toBe('done');
  const pids = world.lines('started').map(({ pid }) => pid);
  expect(new Set(pids).size).toBe(2);
  expect(warnings).toEqual([expect.objectContaining({ code: 'MCP_CONNECTION_LOST' })]);
});

test('a signal that aborts cancels the call at the server', async () => {
  const world = await mcpWorld();
  const { tools } = await connect(stdioOf(world));
  const controller = new AbortController();
  const call = callTool(tools, 'charge', { mode: 'hang' }, { signal: controller.signal });
  call.catch(() => undefined);
  await waitFor(() => world.lines('called').length === 1, { for: 'the call' });
  controller.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  await waitFor(() => world.lines('cancelled').length === 1, { for: 'the cancellation' });
  expect(await callTool(tools, 'look', { mode: 'text' })).toBe('done');
});

test('close ends the process, twice does no harm, and a call afterwards fails with nothing sent', async () => {
  const world = await mcpWorld();
  const server = await connect(stdioOf(world));
  const { pid } = world.lines('started')[0]!;
  await Promise.all([server.close(), server.close()]);
  await waitFor(() => !processIsAlive(pid), { for: 'the process to end' });
  await expect(callTool(server.tools, 'look', { mode: 'text' })).rejects.toMatchObject({ code: 'TOOL_SERVER_FAILED' });
  await expect(server.refresh()).rejects.toMatchObject({ code: 'TOOL_SERVER_FAILED' });
  expect(world.lines('called')).toEqual([]);
  expect(server.warnings).toEqual([]);
});

test('the server gets what env names and little more, and its variables are in no error', async () => {
  const world = await mcpWorld();
  process.env.TURNLOCK_NOT_FOR_SERVERS = 'x';
  const env = { API_KEY: 'a-very-secret-key' };
  const { tools } = await connect({ ...stdioOf(world), env });
  delete process.env.TURNLOCK_NOT_FOR_SERVERS;
  const seen = JSON.parse(String(await callTool(tools, 'look', { mode: 'environment' })));
  expect(seen).toMatchObject(env);
  expect(Object.keys(seen)).not.toContain('TURNLOCK_NOT_FOR_SERVERS');
  await expect(callTool(tools, 'look', { mode: 'fail', say: `bad key ${env.API_KEY}` })).rejects.toThrow(
    /^bad key \[removed\]/,
  );
});

test('a list that changes, by notice or over a restart: warnings say what, and calls of what is gone fail with nothing sent', async () => {
  const world = await mcpWorld();
  const { tools, warnings } = await connect(stdioOf(world));
  const [charge, look] = OFFER;
  world.offer([charge!, { ...look!, name: 'peek' }, { ...OFFER[2]!, inputSchema: { type: 'object' } }]);
  await callTool(tools, 'charge', { mode: 'announce' });
  await waitFor(() => warnings.length === 3, { for: 'the changes to be told' });
  expect(warnings.map(({ code, message }) => [code, /tool (\w+)/.exec(message)?.[1]])).toEqual([
    ['MCP_TOOL_REMOVED', 'look'],
    ['MCP_TOOL_CHANGED', 'put'],
    ['MCP_TOOL_ADDED', 'peek'],
  ]);
  await expect(callTool(tools, 'look', { mode: 'text' })).rejects.toThrow('no tool look any more. Nothing was sent.');
  world.offer([look!]);
  process.kill(world.lines('started')[0]!.pid, 'SIGKILL');
  await waitFor(() => warnings.length === 4, { for: 'the loss to be noticed' });
  await expect(callTool(tools, 'charge', { mode: 'text' })).rejects.toThrow('no tool charge any more');
  expect(await callTool(tools, 'look', { mode: 'text' })).toBe('done');
  expect(world.lines('called').map(({ tool }) => tool)).toEqual(['charge', 'look']);
});
