import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { InputSchema } from '../../adapters/tools/tool.contract.ts';
import { createRuntime, defineTool, versioned } from '../../index.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../support/runtime-open.ts';

const V1 = z.object({ order: z.number() });
const V2 = z.object({ orderId: z.string() });
const raised = versioned(V1).to(V2, ({ order }) => ({ orderId: String(order) }));

onPostgres((database) => {
  const agentWith = (inputSchema: InputSchema, name: string, more: object = {}) =>
    scriptedAgent(
      'done',
      [{ ...defineTool({ name: 'pay', description: 'x', inputSchema, execute: () => null }), ...more }],
      name,
    );
  const start = (inputSchema: InputSchema, name: string, more: object = {}) =>
    openRuntime(database(), [agentWith(inputSchema, name, more)]);
  const recorded = (name: string) =>
    database().query(
      'SELECT tool_name, tool_version FROM turnlock.agent_tool_versions WHERE agent_name = $1 ORDER BY tool_version',
      [name],
    );

  test('C69 another schema under the same version is refused at start, with what to do; under the next one it is taken', async () => {
    const name = `agent-${randomUUID()}`;
    await start(V1, name);
    await expect(start(V2, name)).rejects.toMatchObject({
      code: 'TOOL_SCHEMA_CHANGED',
      details: { agent: name, tool: 'pay', version: 1 },
      hint: expect.stringContaining('versioned(before).to(now, upgrade)'),
    });
    await start(raised, name);
    expect(await recorded(name)).toEqual([
      { tool_name: 'pay', tool_version: 1 },
      { tool_name: 'pay', tool_version: 2 },
    ]);
    // The build before starts again, as it does in a rolling deploy, and one that changed what an older version was does not.
    await start(V1, name);
    await expect(
      start(
        versioned(V2).to(V2, (old) => old),
        name,
      ),
    ).rejects.toMatchObject({ details: { version: 1 } });
    await expect(
      start(
        versioned(V1).to(V1, (old) => old),
        name,
      ),
    ).rejects.toMatchObject({ details: { version: 2 } });
  });

  test('words for the model are no change, and each agent has tools of its own', async () => {
    const name = `agent-${randomUUID()}`;
    await start(V1, name);
    await start(z.object({ order: z.number().describe('Its number') }).describe('What to pay'), name);
    await start(V2, `agent-${randomUUID()}`);
    await start(V2, name, { hasForeignSchema: true });
    expect(await recorded(name)).toHaveLength(1);
  });

  test('of many processes that start at once with one schema all start; with two, only those of one', async () => {
    const name = `agent-${randomUUID()}`;
    const opened = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => start(index % 2 === 0 ? V1 : V2, name)),
    );
    const started = opened.map(({ status }) => status === 'fulfilled');
    const evenOnes = started.filter((_, index) => index % 2 === 0);
    expect(new Set(evenOnes).size).toBe(1);
    expect(started.filter(Boolean)).toHaveLength(4);
    for (const result of opened) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'TOOL_SCHEMA_CHANGED' });
    }
    expect(await recorded(name)).toHaveLength(1);
  });

  test('what was opened is closed again where a schema is refused', async () => {
    const name = `agent-${randomUUID()}`;
    await start(V1, name);
    const adapter = database().adapter();
    let closed = 0;
    const watched: typeof adapter = {
      ...adapter,
      connect: async (options) => {
        const opened = await adapter.connect(options);
        const close = () => {
          closed += 1;
          return opened.close();
        };
        return new Proxy(opened, {
          get: (target, key) => (key === 'close' ? close : Reflect.get(target, key, target)),
        });
      },
    };
    const attempt = createRuntime({ database: watched, agents: [agentWith(V2, name)], migrate: 'check' });
    await expect(attempt).rejects.toMatchObject({ code: 'TOOL_SCHEMA_CHANGED' });
    expect(closed).toBe(1);
  });
});
