import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { spawnChild } from '../../../support/child.ts';
import { callTool, connect, mcpWorld, startHttp, stdioOf } from '../../../support/mcp/mcp-world.ts';
import { gate } from '../../../support/runtime-script.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { expectKilledInCall } from './killed-in-call.ts';

/** `fetch`, and a promise that the answer to a call has begun. */
function seeingFetch(): { fetch: typeof fetch; begun: Promise<unknown> } {
  const { opened: begun, open } = gate<unknown>();
  return {
    begun,
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (String(init?.body).includes('tools/call')) open(response.clone().body?.getReader().read());
      return response;
    },
  };
}

test('killed during a call whose answer is no stream: unknown; while it is away nothing is sent; back again, it has a new session', () =>
  expectKilledInCall('json'));

test('a connection that breaks during a call leaves an unknown outcome, although the server lives', async () => {
  const world = await mcpWorld();
  const { child, url } = await startHttp(world);
  const { tools } = await connect({ url });
  const call = callTool(tools, 'charge', { mode: 'hang' });
  call.catch(() => undefined);
  await waitFor(() => world.lines('called').length === 1, { for: 'the call' });
  child.send({ type: 'breakConnections' });
  await expect(call).rejects.toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN' });
  expect(await callTool(tools, 'charge', { mode: 'text' })).toBe('done');
});

test('an answer that breaks off is read on where the server lets it be, and counts', async () => {
  const world = await mcpWorld();
  const seen = seeingFetch();
  const { child, url } = await startHttp(world, 'resumable');
  const { tools } = await connect({ url, fetch: seen.fetch });
  const call = callTool(tools, 'charge', { mode: 'waitForGo' });
  await seen.begun;
  child.send({ type: 'breakConnections' });
  await child.next('broke');
  writeFileSync(join(world.folder, 'go'), '');
  expect(await call).toBe('went');
  expect(world.lines('called')).toHaveLength(1);
});

test('one that can be read on from a server that is gone is unknown after a bounded number of tries', async () => {
  const world = await mcpWorld();
  const seen = seeingFetch();
  const { child, url } = await startHttp(world, 'resumable');
  const { tools } = await connect({ url, fetch: seen.fetch });
  const call = callTool(tools, 'charge', { mode: 'hang' });
  call.catch(() => undefined);
  await seen.begun;
  await child.kill();
  await expect(call).rejects.toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN' });
});

test.each(['stdio', 'http'])('a process that has closed its server over %s ends by itself', async (kind) => {
  const world = await mcpWorld();
  const transport = kind === 'stdio' ? stdioOf(world) : { url: (await startHttp(world)).url };
  const child = spawnChild('test/support/mcp/closes.child.ts', { args: [JSON.stringify(transport)] });
  expect(await child.next('closed')).toMatchObject({ hanging: 'TOOL_OUTCOME_UNKNOWN' });
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(child.output).toBe('');
});
