import { expect, test } from 'vitest';
import { callTool, connect, mcpWorld, stdioOf } from '../../../support/mcp/mcp-world.ts';
import { processIsAlive } from '../../../support/process-is-alive.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** A server in a process that we started. */

test('a server that died between two calls is started again, and nothing is unknown', async () => {
  const world = await mcpWorld();
  const { tools, warnings } = await connect(stdioOf(world));
  process.kill(world.lines('started')[0]!.pid, 'SIGKILL');
  await waitFor(() => warnings.length > 0, { for: 'the loss to be noticed' });
  expect(await callTool(tools, 'charge', { mode: 'text' })).toBe('done');
});

test('a call that is out when it is closed has an unknown outcome', async () => {
  const world = await mcpWorld();
  const server = await connect(stdioOf(world));
  const call = callTool(server.tools, 'charge', { mode: 'hang' });
  call.catch(() => undefined);
  await waitFor(() => world.lines('called').length === 1, { for: 'the call' });
  await server.close();
  await expect(call).rejects.toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN' });
});

test('close ends also a process that heeds neither the end of its input nor SIGTERM', async () => {
  const world = await mcpWorld();
  const server = await connect(stdioOf(world, 'stubborn'));
  const { pid } = world.lines('started')[0]!;
  await server.close();
  await waitFor(() => !processIsAlive(pid), { for: 'the process to end' });
  expect(processIsAlive(pid)).toBe(false);
});

test.each([
  ['is not there', { command: '/nowhere/at-all' }, 60_000, /ENOENT/],
  ['ends at once', { command: process.execPath, args: ['-e', ''] }, 60_000, /closed|EPIPE/],
  [
    'does not answer',
    { command: process.execPath, args: ['-e', 'process.stdin.resume()'] },
    1_000,
    /no answer|timed out/,
  ],
])(
  'a server that %s: the reason is said, and nothing is left behind',
  async (_, transport, connectTimeoutMs, reason) => {
    await expect(connect(transport, { connectTimeoutMs })).rejects.toMatchObject({
      code: 'TOOL_SERVER_FAILED',
      retryable: true,
      message: expect.stringMatching(reason),
    });
  },
);
