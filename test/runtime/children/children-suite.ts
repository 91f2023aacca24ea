import { expect, test } from 'vitest';
import { z } from 'zod';
import { scripted } from '../../../adapters/models/scripted.ts';
import { defineAgent } from '../../../index.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import { eventsOf } from '../../support/runtime-script.ts';
import { typesOf } from '../inbox-scene.ts';
import { agentOf, answersOf, asked, asking, childrenOf, rowOf } from './scene.ts';

/** Agents as tools of other agents, where nothing goes wrong. */
export const describeChildren: RuntimeSuite = (database) => {
  test('a call of an agent is a session of it: its reply is what the call comes to', async () => {
    const research = agentOf('research', (request) => `found ${asked(request)}`);
    const boss = agentOf('boss', asking({ toolName: 'research', input: { message: 'gold' } }), [
      research.asTool({ name: 'research' }),
    ]);
    const session = await openSession(await openRuntime(database(), [boss]), boss, { metadata: { shop: 7 } });
    const run = await session.send('go');
    const seen = (await eventsOf(run)).flatMap((event) => (event.type === 'transition' ? [event.event.type] : []));
    const result = await run.result();
    expect(result).toMatchObject({ state: 'IDLE', reply: 'found gold', awaiting: [], error: null });
    expect(await answersOf(session)).toEqual(['found gold']);
    expect(await childrenOf(database(), session)).toMatchObject([
      { state: 'IDLE', agent: research.name, depth: 1, tenant: 'tenant', user: 'user', holder: null },
    ]);
    expect(await typesOf(session)).toEqual([
      'user.messaged',
      'model.calledTools',
      'worker.tookOver',
      'tool.evidenced',
      'model.replied',
    ]);
    expect(seen).toEqual(await typesOf(session));
    expect(await rowOf(database(), session)).toMatchObject({
      state: 'IDLE',
      holder: null,
      sleeps: null,
      recoveries: 0,
    });
  });

  test('an output that the agent declares is what the call comes to; another schema makes the message', async () => {
    const triage = defineAgent({
      name: `triage-${crypto.randomUUID().slice(0, 8)}`,
      model: scripted((request) => JSON.stringify({ team: asked(request) })),
      instructions: '',
      output: z.object({ team: z.string(), urgent: z.boolean().default(false) }),
    });
    const tool = triage.asTool({
      name: 'triage',
      inputSchema: z.object({ ticket: z.number() }),
      message: ({ ticket }) => `ticket ${ticket}`,
    });
    const boss = agentOf('boss', asking({ toolName: 'triage', input: { ticket: 5 } }), [tool]);
    const session = await openSession(await openRuntime(database(), [boss]), boss);
    const { reply } = await (await session.send('go')).result();
    expect(JSON.parse(reply!)).toEqual({ team: 'ticket 5', urgent: false });
    expect(await childrenOf(database(), session)).toMatchObject([{ state: 'COMPLETED' }]);
  });

  test('children of one turn work side by side, and their answers stand in call order', async () => {
    let together = 0;
    let meet: () => void = () => undefined;
    const met = new Promise<void>((resolve) => {
      meet = resolve;
    });
    const research = agentOf('research', async (request) => {
      together += 1;
      if (together === 3) meet();
      await met;
      return `found ${asked(request)}`;
    });
    const calls = ['a', 'b', 'c'].map((message) => ({ toolName: 'research', input: { message } }));
    const boss = agentOf('boss', asking(...calls), [research.asTool({ name: 'research' })]);
    const session = await openSession(await openRuntime(database(), [boss]), boss);
    const { reply } = await (await session.send('go')).result();
    expect(reply).toBe('found a + found b + found c');
    expect(await childrenOf(database(), session)).toHaveLength(3);
  });

  test('children whose children ask children: each link stands in its row', async () => {
    const third = agentOf('third', (request) => `3 ${asked(request)}`);
    const second = agentOf('second', asking({ toolName: 'third', input: { message: 'deep' } }), [
      third.asTool({ name: 'third' }),
    ]);
    const first = agentOf('first', asking({ toolName: 'second', input: { message: 'down' } }), [
      second.asTool({ name: 'second' }),
    ]);
    const session = await openSession(await openRuntime(database(), [first]), first);
    expect((await (await session.send('go')).result()).reply).toBe('3 deep');
    const [child] = await childrenOf(database(), session);
    const [grandchild] = await childrenOf(database(), { sessionId: child!.id });
    expect([child!.depth, grandchild!.depth]).toEqual([1, 2]);
  });
};
