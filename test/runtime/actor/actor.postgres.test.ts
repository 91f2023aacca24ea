import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createActor, type InspectionEvent, waitFor as waitForActor } from 'xstate';
import {
  type EventRefused,
  type RunResult,
  requireApproval,
  type SendOptions,
  type SessionSnapshot,
} from '../../../index.ts';
import { servicesOf } from '../../../runtime/services-of.ts';
import { type ActedSession, sessionLogic } from '../../../runtime/session-actor.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { tripMachine } from './trip.machine.ts';

const WAIT = { timeout: 20_000 };

/** An agent that books once a person has agreed, and how often it did. */
function bookingAgent() {
  const acts: unknown[] = [];
  const book = looseTool(
    'book',
    (params) => {
      acts.push(params);
      return 'booked';
    },
    { effect: 'nonRepeatable', policy: () => requireApproval() },
  );
  return { acts, agent: scriptedAgent(eachRun({ toolCalls: [call('book', { n: 1 })] }, 'It is booked.'), [book]) };
}

onPostgres((database) => {
  test('an actor of a session is sent events, shows committed states only, and is done with its session', async () => {
    const { agent, acts } = bookingAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const inspected: InspectionEvent['type'][] = [];
    const actor = session.actor({ inspect: ({ type }) => inspected.push(type) });
    const states: unknown[] = [];
    actor.subscribe(({ value }) => states.at(-1) !== value && states.push(value));
    expect(actor.getSnapshot()).toMatchObject({ status: 'active', value: null });
    await waitForActor(actor, ({ value }) => value === 'IDLE', WAIT);
    actor.send({ type: 'user.messaged', text: 'go', messageId: 'one' });
    const { awaiting } = await waitForActor(actor, ({ value }) => value === 'AWAITING_INPUT', WAIT);
    actor.send({ type: 'approval.granted', executionId: awaiting[0]!.executionId, by: 'ann' });
    await waitForActor(actor, ({ value }) => value === 'IDLE', WAIT);
    actor.send({ type: 'session.completed', by: 'ann' });
    const last = await waitForActor(actor, ({ status }) => status === 'done', WAIT);
    expect(last).toMatchObject({ value: 'COMPLETED', output: { reply: 'It is booked.' } });
    expect(last.version).toBe((await session.status()).version);
    expect(acts).toHaveLength(1);
    const path = ['IDLE', 'PLANNING', 'AWAITING_INPUT', 'EXECUTING_TOOL', 'PLANNING', 'IDLE', 'COMPLETED'];
    expect(states).toEqual(path);
    expect(new Set(inspected)).toEqual(new Set(['@xstate.actor', '@xstate.event', '@xstate.snapshot']));
  });

  test('what is refused is emitted, and the actor goes on', async () => {
    const { agent } = bookingAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const actor = session.actor();
    const refused: unknown[] = [];
    actor.on('event.refused', ({ event, error }: EventRefused) =>
      refused.push([event.type, (error as { code?: string }).code]),
    );
    actor.send({ type: 'session.retried' });
    actor.send({ type: 'user.messaged', text: 7 as never });
    actor.send({ type: 'never.heard' } as never);
    actor.send({ type: 'user.messaged', text: 'go' });
    await waitForActor(actor, ({ value }) => value === 'AWAITING_INPUT', WAIT);
    expect(refused).toEqual([
      ['session.retried', 'EVENT_ILLEGAL'],
      ['user.messaged', 'VALUE_INVALID'],
      ['never.heard', 'EVENT_ILLEGAL'],
    ]);
    actor.stop();
    await session.cancel();
    expect(actor.getSnapshot()).toMatchObject({ status: 'stopped', value: 'AWAITING_INPUT' });
  });

  test('what another process commits is seen, each state once; what happened while nobody looked is caught up with', async () => {
    const { agent } = bookingAgent();
    const here = await openSession(await openRuntime(database(), [agent], { drive: false }), agent);
    const there = await (await openRuntime(database(), [agent])).session(here);
    const actor = here.actor();
    const versions: number[] = [];
    actor.subscribe(({ version }) => versions.at(-1) !== version && versions.push(version));
    await waitForActor(actor, ({ value }) => value === 'IDLE', WAIT);
    await (await there.send('go')).result();
    const asked = await waitForActor(actor, ({ value }) => value === 'AWAITING_INPUT', WAIT);
    const persisted = JSON.parse(JSON.stringify(actor.getPersistedSnapshot()));
    actor.stop();
    await (await there.deny(asked.awaiting[0]!.executionId, { by: 'ann', reason: 'no' })).result();
    const { version } = await there.status();
    expect(versions).toEqual(Array.from({ length: asked.version + 1 }, (_, at) => at));
    const logic = (await openRuntime(database(), [agent], { drive: false })).sessionLogic();
    const restored = createActor(logic, { snapshot: persisted, input: persisted.input }).start();
    atTestEnd(() => void restored.stop());
    expect(await waitForActor(restored, ({ value }) => value === 'IDLE', WAIT)).toMatchObject({
      version,
      awaiting: [],
    });
  });

  test('a machine of one’s own invokes two sessions; stopped, stored and restored elsewhere it finishes, and nothing acts twice', async () => {
    const flight = bookingAgent();
    const hotel = bookingAgent();
    const agents = [flight.agent, hotel.agent];
    const first = await openRuntime(database(), agents);
    const trip = { tripId: randomUUID(), flight: flight.agent.name, hotel: hotel.agent.name };
    const before = createActor(tripMachine(first.sessionLogic()), { input: trip }).start();
    const partOf = (actor: typeof before, part: string) =>
      (actor.getSnapshot().children as Record<string, { getSnapshot(): SessionSnapshot } | undefined>)[
        part
      ]?.getSnapshot();
    const asked = await waitFor(
      () => {
        const parts = ['flight', 'hotel'].map((part) => partOf(before, part));
        return parts.every((part) => part?.value === 'AWAITING_INPUT') && parts;
      },
      { for: 'both parts to ask' },
    );
    const stored = JSON.stringify(before.getPersistedSnapshot());
    before.stop();
    await first.close();
    const second = await openRuntime(database(), agents);
    const [{ sessionId, tenantId, awaiting }] = asked as [SessionSnapshot & { sessionId: string; tenantId: string }];
    await (await second.session({ tenantId, sessionId })).approve(awaiting[0]!.executionId, { by: 'ann' });
    const after = createActor(tripMachine(second.sessionLogic()), {
      snapshot: JSON.parse(stored),
      input: trip,
    }).start();
    atTestEnd(() => void after.stop());
    await waitForActor(after, (snapshot) => snapshot.matches({ flight: 'booked' }), WAIT);
    const still = await waitFor(
      () => {
        const part = partOf(after, 'hotel');
        return part?.value === 'AWAITING_INPUT' && part;
      },
      { for: 'the hotel to ask' },
    );
    (after.getSnapshot().children as Record<string, { send(event: object): void }>).hotel!.send({
      type: 'approval.granted',
      executionId: (still as SessionSnapshot).awaiting[0]!.executionId,
      by: 'ann',
    });
    const { context } = await waitForActor(after, ({ status }) => status === 'done', WAIT);
    expect(context.replies).toEqual({ flight: 'It is booked.', hotel: 'It is booked.' });
    expect([flight.acts.length, hotel.acts.length]).toEqual([1, 1]);
    expect(await second.sessions({ tenantId: 'tenant', agent: flight.agent.name })).toHaveLength(1);
  });

  test('a session that cannot be opened, a message that is refused, an input without an id: the actor fails with the error', async () => {
    const { agent } = bookingAgent();
    const runtime = await openRuntime(database(), [agent]);
    const done = await openSession(runtime, agent, { externalId: randomUUID() });
    await done.complete();
    const message = { text: 'go', messageId: 'one' };
    const { tenantId, sessionId } = done;
    const who = { agent: agent.name, tenantId, userId: 'user' };
    for (const [input, code] of [
      [{ tenantId, sessionId: randomUUID() }, 'SESSION_NOT_FOUND'],
      [{ tenantId, sessionId, message }, 'SESSION_COMPLETED'],
      [who, 'OPTIONS_INVALID'],
      [{ ...who, agent: 'nobody', externalId: 'x' }, 'AGENT_UNKNOWN'],
    ] as const) {
      const actor = createActor(runtime.sessionLogic(), { input: input as never });
      actor.subscribe({ error: () => undefined });
      actor.start();
      await waitFor(() => actor.getSnapshot().status === 'error', { for: 'the actor to fail' });
      expect(actor.getSnapshot().error).toMatchObject({ code });
    }
  });

  test('a run that waits is not over where the question about its call is missing', async () => {
    const { agent } = bookingAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const message = { text: 'go', messageId: 'one' };
    const { awaiting } = await (await session.send('go', { messageId: 'one' })).result();
    await database().query(`SET session_replication_role = 'replica'`);
    await database().query('DELETE FROM turnlock.agent_approvals WHERE approval_id = $1', [awaiting[0]!.approvalId]);
    await database().query(`SET session_replication_role = 'origin'`);
    const looked: RunResult[] = [];
    const acted = {
      tenantId: session.tenantId,
      sessionId: session.sessionId,
      status: () => session.status(),
      send: async (text: string, options: SendOptions) => {
        const run = await session.send(text, options);
        return { result: async () => looked[looked.push(await run.result()) - 1] };
      },
    } as unknown as ActedSession;
    const logic = sessionLogic(servicesOf(runtime), async () => acted);
    const actor = createActor(logic, { input: { message } }).start();
    atTestEnd(() => void actor.stop());
    await waitFor(() => looked.length > 0, { for: 'the actor to look at the run' });
    expect(looked).toMatchObject([{ state: 'AWAITING_INPUT', queued: false, awaiting: [] }]);
    await session.cancel();
    const { output } = await waitForActor(actor, ({ status }) => status === 'done', WAIT);
    expect(output).toMatchObject({ state: 'IDLE', error: { code: 'RUN_CANCELLED' } });
  });

  test('a runtime that closes ends no actor: what is stored of it goes on elsewhere', async () => {
    const { agent } = bookingAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const actor = session.actor();
    actor.send({ type: 'user.messaged', text: 'go' });
    await waitForActor(actor, ({ value }) => value === 'AWAITING_INPUT', WAIT);
    await runtime.close();
    expect(actor.getSnapshot()).toMatchObject({ status: 'active', value: 'AWAITING_INPUT' });
    expect(() => session.actor()).toThrow(expect.objectContaining({ code: 'RUNTIME_CLOSED' }));
  });
});
