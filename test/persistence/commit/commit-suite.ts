import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SessionEvent } from '../../../machines/session-event.ts';
import type { CommittedSession } from '../../../persistence/committed-session.ts';
import type { LeaseClaim } from '../../../persistence/lease.ts';
import { createPersistenceActor } from '../../../persistence/persistence-actor.ts';
import { readTransitions } from '../../../persistence/read-transitions.ts';
import { insertSession, openStore } from '../../support/open-store.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { acquire, eventsOfRun, HOLDER, hold, take } from './story.ts';

/** One event, one transaction, one version: or nothing at all. */
export const describeCommits: RuntimeSuite = (database) => {
  /** All that the database holds of a session. */
  async function allOf({ sessionId }: CommittedSession) {
    const tables = ['agent_sessions', 'agent_turns', 'agent_tool_executions', 'agent_transitions', 'agent_model_calls'];
    const rows = [];
    for (const table of tables) {
      const statement = `SELECT to_jsonb(t) AS row FROM turnlock.${table} t WHERE session_id = $1 ORDER BY t::text`;
      rows.push(await database().query(statement, [sessionId]));
    }
    return rows;
  }

  test('C20 C63 what comes too late, twice, early or from another run is refused, and not a row changes', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const run = eventsOfRun();
    const other = eventsOfRun();
    const { executionId } = run;
    const started = (attempt: number): SessionEvent => ({
      type: 'execution.started',
      executions: [{ executionId, attempt, timeoutMs: 1_000 }],
    });
    async function refuses(events: readonly SessionEvent[]): Promise<void> {
      const before = await allOf(session);
      for (const event of events) {
        await expect(take(store, session, event, hold(1)), event.type).rejects.toMatchObject({
          code: 'EVENT_ILLEGAL',
          details: { event: event.type },
        });
      }
      expect(await allOf(session)).toEqual(before);
    }
    await take(store, session, run.messaged, acquire);
    await refuses([run.settled, started(1), other.replied, { type: 'session.completed', by: 'ann' }]);
    await take(store, session, run.calledTools, hold(1));
    await refuses([run.calledTools, run.replied, other.settled, started(1), started(3)]);
    await take(store, session, run.settled, hold(1));
    await refuses([
      run.settled,
      started(2),
      started(1),
      { type: 'tool.outcomeUnknown', executions: [{ executionId, attempt: 1, reason: 'crash' }] },
    ]);
    const types = (await readTransitions(store, session)).map(({ type }) => type);
    expect(types).toEqual(['user.messaged', 'model.calledTools', 'tool.settled']);
  });

  test('a stale holder is told that it is stale before it is told anything else', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const run = eventsOfRun();
    await take(store, session, run.messaged, acquire);
    const before = await allOf(session);
    const stale: LeaseClaim[] = [hold(0), hold(2), hold(1, 'somebody else')];
    for (const claim of stale) {
      for (const event of [run.replied, run.settled]) {
        await expect(take(store, session, event, claim)).rejects.toMatchObject({ code: 'TOKEN_STALE' });
      }
    }
    expect(await allOf(session)).toEqual(before);
    await take(store, session, run.replied, hold(1));
    await expect(take(store, session, run.replied, hold(1))).rejects.toMatchObject({ code: 'TOKEN_STALE' });
  });

  test('C19 whoever acts on an old look takes over nothing that rests', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const run = eventsOfRun();
    const claim: LeaseClaim = { type: 'takeOver', holder: 'second', leaseMs: 15_000 };
    const tookOver: SessionEvent = { type: 'worker.tookOver', holder: 'second' };
    await take(store, session, run.messaged, acquire);
    await take(store, session, run.replied, hold(1));
    const before = await allOf(session);
    await expect(take(store, session, tookOver, claim)).rejects.toMatchObject({ code: 'LEASE_HELD' });
    expect(await allOf(session)).toEqual(before);
  });

  test('a lease is taken once, taken over when it has ended, and each grant raises the token', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const run = eventsOfRun();
    const takeOver: LeaseClaim = { type: 'takeOver', holder: 'second', leaseMs: 15_000 };
    const tookOver: SessionEvent = { type: 'worker.tookOver', holder: 'second' };
    expect((await take(store, session, run.messaged, acquire)).session).toMatchObject({
      token: 1,
      leaseHolder: HOLDER,
    });
    await expect(take(store, session, tookOver, takeOver)).rejects.toMatchObject({ code: 'LEASE_HELD' });
    await expect(take(store, session, eventsOfRun().messaged, acquire)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await database().moveClock(15_000);
    const taken = await take(store, session, tookOver, takeOver);
    expect(taken.session).toMatchObject({ token: 2, leaseHolder: 'second', recoveries: 1, version: 2 });
    await expect(take(store, session, run.replied, hold(1))).rejects.toMatchObject({ code: 'TOKEN_STALE' });
    const replied = await take(store, session, run.replied, hold(2, 'second'));
    expect(replied.session).toMatchObject({ state: 'IDLE', token: 2, leaseHolder: null, leaseExpiresAt: null });
  });

  test('a back-off is kept by whoever takes over, and consumed by the holder', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const run = eventsOfRun();
    await take(store, session, run.messaged, acquire);
    const failed = await take(store, session, run.attemptFailed, hold(1));
    expect(failed.session.wakeAt!.getTime() - failed.now.getTime()).toBe(60_000);
    await database().moveClock(15_000);
    const takeOver: LeaseClaim = { type: 'takeOver', holder: 'second', leaseMs: 15_000 };
    const taken = await take(store, session, { type: 'worker.tookOver', holder: 'second' }, takeOver);
    expect(taken.session.wakeAt).toEqual(failed.session.wakeAt);
    expect((await take(store, session, run.replied, hold(2, 'second'))).session.wakeAt).toBeNull();
  });

  test('the same event id is what it was then; with other content it is a conflict', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const { messaged } = eventsOfRun();
    const id = { eventId: randomUUID(), contentDigest: 'digest of go' };
    const first = await take(store, session, messaged, acquire, id);
    const before = await allOf(session);
    const again = await take(store, session, eventsOfRun().messaged, acquire, id);
    expect(again).toMatchObject({
      repeated: true,
      turns: [],
      transition: { sequence: 1, runId: messaged.runId, to: 'PLANNING' },
    });
    expect(again.transition.event).toEqual(first.transition.event);
    const other = { ...id, contentDigest: 'digest of stop' };
    await expect(take(store, session, messaged, acquire, other)).rejects.toMatchObject({ code: 'MESSAGE_CONFLICT' });
    expect(await allOf(session)).toEqual(before);
  });

  test('of two processes that begin a run at once, one does; versions and tokens have no gap', async () => {
    const stores = [await openStore(database()), await openStore(database())];
    const session = await insertSession(stores[0]!);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => take(stores[index % 2]!, session, eventsOfRun().messaged, acquire)),
    );
    const won = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'SESSION_BUSY' });
    }
    const transitions = await readTransitions(stores[0]!, session);
    expect(transitions.map(({ sequence, token }) => [sequence, token])).toEqual([[1, 1]]);
  });

  test('the actor takes events in order, survives a refused one, and shows committed states only', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const actor = createPersistenceActor(store, session);
    const seen: [string, number][] = [];
    const unsubscribe = actor.subscribe(({ transition, session: { version } }) => {
      expect(actor.committed().version).toBe(version);
      seen.push([transition.event.type, transition.sequence]);
    });
    const run = eventsOfRun();
    const commit = (event: SessionEvent, claim: LeaseClaim) =>
      actor.commit({
        tenantId: 'tenant',
        sessionId: session.sessionId,
        eventId: randomUUID(),
        cause: 'worker',
        event,
        claim,
      });
    expect(actor.committed().version).toBe(0);
    const outcomes = await Promise.allSettled([
      commit(run.messaged, acquire),
      commit(run.calledTools, hold(1)),
      commit(run.replied, hold(1)),
      commit(run.settled, hold(1)),
      commit(run.replied, hold(1)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(seen).toEqual([
      ['user.messaged', 1],
      ['model.calledTools', 2],
      ['tool.settled', 3],
      ['model.replied', 4],
    ]);
    expect(actor.committed()).toMatchObject({ state: 'IDLE', version: 4 });
    unsubscribe();
    actor.stop();
  });

  test('an actor that is stopped while a commit is under way tells of it, and then takes no more', async () => {
    const warn = vi.spyOn(console, 'warn');
    onTestFinished(() => warn.mockRestore());
    const store = await openStore(database());
    const session = await insertSession(store);
    const actor = createPersistenceActor(store, session);
    const seen: string[] = [];
    actor.subscribe(({ transition }) => seen.push(transition.event.type));
    const { messaged } = eventsOfRun();
    const underWay = actor.commit({
      tenantId: 'tenant',
      sessionId: session.sessionId,
      eventId: randomUUID(),
      cause: 'worker',
      event: messaged,
      claim: acquire,
    });
    actor.stop();
    await underWay;
    expect(seen).toEqual(['user.messaged']);
    expect(actor.committed()).toMatchObject({ state: 'PLANNING', version: 1 });
    expect(warn).not.toHaveBeenCalled();
  });
};
