import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { commitEvent } from '../../../persistence/commit-event.ts';
import type { CommitRequest } from '../../../persistence/commit-request.ts';
import type { CommittedSession } from '../../../persistence/committed-session.ts';
import {
  claimMemoryTasks,
  failTask,
  finishTask,
  type MemoryTask,
  oweSummary,
} from '../../../persistence/memory/memory-tasks.ts';
import { insertMemory, type NewMemory } from '../../../persistence/memory/new-memory.ts';
import { readSummary } from '../../../persistence/memory/read-summary.ts';
import { inTransaction, type Store } from '../../../persistence/session-transaction.ts';
import { insertSession, openStore } from '../../support/open-store.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { acquire, eventsOfRun } from '../commit/story.ts';
import { newMemory } from './new-memory.ts';

/** Memories at the level of rows: stored with a commit or without, superseded, and the work that is owed for them. */
export const describeMemoryStore: RuntimeSuite = (database) => {
  const storing = (session: CommittedSession, memories: readonly NewMemory[], eventId: string = randomUUID()) =>
    ({
      tenantId: session.tenantId,
      sessionId: session.sessionId,
      eventId,
      cause: 'worker',
      event: { type: 'memory.stored', memoryIds: memories.map(({ memoryId }) => memoryId) },
      claim: { type: 'none' },
      memories,
    }) satisfies CommitRequest;
  const rowOf = async (memoryId: string) =>
    (await database().query('SELECT * FROM turnlock.agent_memories WHERE memory_id = $1', [memoryId]))[0];
  const claimed = (store: Store, { agentName }: CommittedSession, taskId: string) =>
    claimMemoryTasks(store, {
      max: 10,
      kinds: ['summarise'],
      agents: ['another', agentName],
      leaseMs: 60_000,
      taskIds: [taskId],
    });
  const owed = async (store: Store, session: CommittedSession, upToTurn: number) =>
    (await inTransaction(store, session, (em) => oweSummary(em, session, upToTurn))).taskId;

  test('a commit stores its memories with where they come from, once, however often it is sent', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const memory = newMemory('The order is 42.', { metadata: { by: 'test' } });
    const request = storing(session, [memory]);
    const first = await commitEvent(store, request);
    const again = await commitEvent(store, request);
    expect([first.repeated, again.repeated, first.transition.sequence]).toEqual([false, true, 1]);
    expect(await rowOf(memory.memoryId)).toMatchObject({
      tenant_id: session.tenantId,
      user_id: session.userId,
      session_id: session.sessionId,
      sequence: 1,
      content: 'The order is 42.',
      metadata: { by: 'test' },
      search: `'42':4 'is':3 'order':2 'the':1`,
    });
  });

  test('any other event brings memories along, with the turn that it writes', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const memory = newMemory('It was said.');
    const { messaged: event } = eventsOfRun();
    const { tenantId, sessionId } = session;
    const sent = { tenantId, sessionId, eventId: randomUUID(), cause: 'user' as const, claim: acquire };
    await commitEvent(store, { ...sent, event, memories: [memory] });
    expect(await rowOf(memory.memoryId)).toMatchObject({ session_id: sessionId, sequence: 1 });
  });

  test('a commit whose memory is refused writes nothing at all', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const [kept, lost] = [newMemory('kept'), newMemory('lost', { supersedes: [randomUUID()] })];
    await expect(commitEvent(store, storing(session, [kept, lost]))).rejects.toMatchObject({
      code: 'MEMORY_NOT_FOUND',
    });
    expect([await rowOf(kept.memoryId), await rowOf(lost.memoryId)]).toEqual([undefined, undefined]);
    const rows = await database().query('SELECT version FROM turnlock.agent_sessions WHERE session_id = $1', [
      session.sessionId,
    ]);
    expect(rows).toEqual([{ version: 0 }]);
  });

  test('a summary takes the place of the one before it, and tells how far it reaches', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    expect(await readSummary(store, session)).toBeNull();
    const first = newMemory('so far', { kind: 'summary', coversToTurn: 3 });
    await commitEvent(store, storing(session, [first]));
    const second = newMemory('further', { kind: 'summary', coversToTurn: 7, supersedes: [first.memoryId] });
    await commitEvent(store, storing(session, [second]));
    expect(await readSummary(store, session)).toEqual({
      memoryId: second.memoryId,
      content: 'further',
      coversToTurn: 7,
      isOwn: true,
    });
    expect(await readSummary(store, { ...session, tenantId: 'other' })).toBeNull();
    const third = newMemory('too late', { kind: 'summary', coversToTurn: 5, supersedes: [first.memoryId] });
    await expect(commitEvent(store, storing(session, [third]))).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' });
  });

  test('a repeated id is the same memory, with another content a conflict, and another user’s own', async () => {
    const store = await openStore(database());
    const owner = { tenantId: 'repeats', userId: 'ana' };
    const memory = newMemory('once', { expiresAt: new Date('2031-01-01') });
    const insert = (userId: string, given: NewMemory) =>
      inTransaction(store, { tenantId: owner.tenantId }, (em) => insertMemory(em, { ...owner, userId }, given));
    const first = await insert('ana', memory);
    expect(await insert('ana', memory)).toEqual({ ...first, repeated: true });
    await expect(insert('ana', { ...memory, content: 'twice' })).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' });
    expect(await insert('ben', { ...memory, content: 'his own' })).toMatchObject({ repeated: false });
  });

  test('an owed summary is claimed by one, by whoever knows the agent, and again once its time is over', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const taskId = await owed(store, session, 4);
    const query = { max: 10, kinds: ['summarise'], leaseMs: 60_000, taskIds: [taskId] } as const;
    expect(await claimMemoryTasks(store, { ...query, agents: ['another'] })).toEqual([]);
    expect(await claimMemoryTasks(store, { ...query, agents: [session.agentName], kinds: ['embed'] })).toEqual([]);
    const { tenantId, sessionId } = session;
    const task = { taskId, tenantId, kind: 'summarise', sessionId, upToTurn: 4 };
    expect(await claimed(store, session, taskId)).toEqual([{ ...task, attempts: 1 }]);
    expect(await claimed(store, session, taskId)).toEqual([]);
    await database().moveClock(60_001);
    expect(await claimed(store, session, taskId)).toEqual([{ ...task, attempts: 2 }]);
  });

  test('what is done is forgotten; what reaches further by then is due again', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const taskId = await owed(store, session, 4);
    const [task] = (await claimed(store, session, taskId)) as [MemoryTask];
    expect(await owed(store, session, 9)).toBe(taskId);
    expect(await owed(store, session, 2)).toBe(taskId);
    await inTransaction(store, session, (em) => finishTask(em, task));
    const [further] = (await claimed(store, session, taskId)) as [MemoryTask];
    expect(further).toMatchObject({ upToTurn: 9, attempts: 1 });
    await inTransaction(store, session, (em) => finishTask(em, further));
    expect(await database().query('SELECT FROM turnlock.agent_memory_tasks WHERE task_id = $1', [taskId])).toHaveLength(
      0,
    );
  });

  test('a task that fails waits longer each time, and after ten attempts is left alone', async () => {
    const store = await openStore(database());
    const session = await insertSession(store);
    const taskId = await owed(store, session, 1);
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const [task] = (await claimed(store, session, taskId)) as [MemoryTask];
      expect(task.attempts).toBe(attempt);
      await failTask(store, task, 'MODEL_FAILED');
      const [row] = await database().query(
        `SELECT round(extract(epoch FROM due_at - turnlock.turnlock_now()))::int AS wait, last_error_code AS code
           FROM turnlock.agent_memory_tasks WHERE task_id = $1`,
        [taskId],
      );
      expect(row.code).toBe('MODEL_FAILED');
      waits.push(row.wait);
      await database().moveClock(6 * 60 * 60 * 1000 + 1);
    }
    expect(waits).toEqual([10, 30, 90, 270, 810, 2430, 7290, 21600, 21600, 21600]);
    expect(await claimed(store, session, taskId)).toEqual([]);
  });
};
