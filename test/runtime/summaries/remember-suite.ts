import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { TransactionalMemory } from '../../../adapters/tools/memory.contract.ts';
import { defineTool, rememberTool } from '../../../index.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun } from '../../support/runtime-script.ts';

export const describeRemembering: RuntimeSuite = (database) => {
  const memoriesOf = (userId: string) =>
    database().query(
      `SELECT m.kind, m.content, m.sequence, m.metadata, t.turn_index FROM turnlock.agent_memories m
         LEFT JOIN turnlock.agent_turns t ON t.turn_id = m.turn_id WHERE m.user_id = $1 ORDER BY m.content`,
      [userId],
    );

  test('a model remembers by a tool: the memory is of the commit that settles the call, with the turn that it came from', async () => {
    const userId = randomUUID();
    const input = { kind: 'preference', content: 'Drinks tea.' };
    const agent = scriptedAgent(eachRun({ toolCalls: [call('remember', input)] }, 'noted'), [rememberTool()]);
    const session = await openSession(await openRuntime(database(), [agent]), agent, { userId });
    expect(await (await session.send('I drink tea')).result()).toMatchObject({ state: 'IDLE', reply: 'noted' });
    const settled = (await session.transitions()).find(({ type }) => type === 'tool.settled');
    expect(await memoriesOf(userId)).toEqual([
      { kind: 'preference', content: 'Drinks tea.', sequence: settled?.sequence, metadata: {}, turn_index: 1 },
    ]);
    const output = (await session.history())[2]?.content;
    expect(JSON.parse(output ?? '')).toEqual({ memoryId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect((await session.verify()).findings).toEqual([]);
  });

  test('what a tool remembers and then throws is not remembered, nor what it gives once it has ended', async () => {
    const userId = randomUUID();
    let kept: TransactionalMemory | null = null;
    const once = defineTool({
      name: 'note',
      description: 'Notes.',
      effect: 'transactional',
      inputSchema: z.object({ n: z.number() }),
      execute: async ({ n }, { memory }) => {
        kept = memory;
        await memory.remember({ kind: 'fact', content: `fact ${n}`, metadata: { n } });
        await memory.remember({ kind: 'episode', content: `told ${n}` });
        if (n === 1) throw new Error('no');
        return n;
      },
    });
    const toolCalls = [call('note', { n: 1 }), call('note', { n: 2 })];
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), [once]);
    const session = await openSession(await openRuntime(database(), [agent]), agent, { userId });
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE' });
    expect(await memoriesOf(userId)).toMatchObject([
      { kind: 'fact', content: 'fact 2', metadata: { n: 2 }, turn_index: 1 },
      { kind: 'episode', content: 'told 2' },
    ]);
    const late = (kept as TransactionalMemory | null)?.remember({ kind: 'fact', content: 'late' });
    await expect(late).rejects.toMatchObject({ code: 'TRANSACTION_OVER' });
    expect(await memoriesOf(userId)).toHaveLength(2);
  });

  test.each([
    ['a kind that is none', { kind: 'rumour', content: 'x' }, 'OPTIONS_INVALID'],
    ['no content', { kind: 'fact', content: '' }, 'OPTIONS_INVALID'],
    ['metadata that JSON cannot hold', { kind: 'fact', content: 'x', metadata: { at: 1n } }, 'VALUE_INVALID'],
    ['an end that is no time', { kind: 'fact', content: 'x', expiresAt: new Date(Number.NaN) }, 'OPTIONS_INVALID'],
  ])('a tool that remembers %s has failed, and the session goes on', async (_, memory, code) => {
    const userId = randomUUID();
    let thrown: unknown;
    const tool = defineTool({
      name: 'note',
      description: 'Notes.',
      effect: 'transactional',
      inputSchema: z.object({}),
      execute: async (_params, context) => {
        await context.memory.remember(memory as never).catch((error: unknown) => {
          thrown = error;
          throw error;
        });
      },
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('note')] }, 'done'), [tool]);
    const session = await openSession(await openRuntime(database(), [agent]), agent, { userId });
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(thrown).toMatchObject({ code });
    expect(await memoriesOf(userId)).toEqual([]);
  });
};
