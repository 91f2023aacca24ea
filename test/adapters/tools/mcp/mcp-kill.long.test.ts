import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { postgres } from '../../../../adapters/databases/postgres.ts';
import { createRuntime } from '../../../../index.ts';
import { recoverAll } from '../../../runtime/kill/kill-scene.ts';
import { atTestEnd } from '../../../support/at-test-end.ts';
import { spawnChild } from '../../../support/child.ts';
import { freshDatabase } from '../../../support/fresh-database.ts';
import { connect, mcpWorld, stdioOf } from '../../../support/mcp/mcp-world.ts';
import { processIsAlive } from '../../../support/process-is-alive.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { LIMITS, mcpAgent } from './mcp-agent.ts';

test('C02 a process that is killed while an MCP server is at work: its server ends, the idempotent call runs again with its key, of the other a person is asked', async () => {
  const world = await mcpWorld();
  const { url } = await freshDatabase();
  const args = [JSON.stringify({ url, transport: stdioOf(world) })];
  const child = spawnChild('test/adapters/tools/mcp/worker.child.ts', { args });
  await waitFor(() => world.lines('called').length === 2, { for: 'both calls', timeoutMs: 60_000 });
  await child.kill();
  const { pid } = world.lines('started')[0]!;
  await waitFor(() => !processIsAlive(pid), { for: 'the server of a dead process to end' });
  writeFileSync(join(world.folder, 'go'), '');

  const { tools } = await connect(stdioOf(world), { trustAnnotations: true });
  const agents = [mcpAgent(tools)];
  const runtime = await createRuntime({ database: postgres(url), agents, migrate: 'check', limits: LIMITS });
  atTestEnd(() => runtime.close());
  expect(await recoverAll(runtime, 2)).toEqual(['AWAITING_INPUT', 'IDLE']);
  const calls = (tool: string) => world.lines('called').filter((line) => line.tool === tool);
  expect(calls('charge')).toHaveLength(1);
  expect(calls('put')).toHaveLength(2);
  expect(new Set(calls('put').map(({ meta }) => meta?.['turnlock/idempotencyKey'])).size).toBe(1);
  expect(calls('put').map(({ meta }) => meta?.['turnlock/attempt'])).toEqual([1, 2]);
});
