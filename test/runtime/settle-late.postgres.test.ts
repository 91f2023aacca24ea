import { expect, test } from 'vitest';
import type { Session } from '../../index.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';
import { waitFor } from '../support/wait-for.ts';
import { answersOf, refundWorld } from './keys/claim-scene.ts';

const UNKNOWN_HELD =
  'The call was not run: The outcome of an earlier call with the same business key is unknown: it may have taken effect. It was not repeated.';

onPostgres((database) => {
  /** A call that was cancelled at work: its run is over, its outcome unknown, and it holds its business key. */
  async function giveUp() {
    const world = refundWorld();
    const runtime = await openRuntime(database(), [world.agent]);
    const tenantId = `tenant-${world.agent.name}`;
    const session = await openSession(runtime, world.agent, { tenantId });
    world.behaves.set(session.sessionId, 'hangs');
    await session.send('1');
    await waitFor(() => world.acts.length === 1, { for: 'the tool to be at work' });
    await session.cancel();
    const { execution_id: executionId } = await rowOf(session);
    const another = () => openSession(runtime, world.agent, { tenantId });
    return { world, runtime, session, executionId, another };
  }

  async function rowOf({ sessionId }: Session) {
    const [row] = await database().query(
      `SELECT execution_id, status, settled_by, output_payload, error_message, completed_at FROM turnlock.agent_tool_executions
        WHERE session_id = $1 ORDER BY started_at LIMIT 1`,
      [sessionId],
    );
    return row;
  }

  test('a call that was given up is settled as failed: its business key is free, and the model hears who found out what', async () => {
    const { world, session, executionId, another } = await giveUp();
    const early = await another();
    await (await early.send('1')).result();
    expect(await answersOf(early)).toEqual([UNKNOWN_HELD]);
    const run = await session.settle(executionId, {
      outcome: 'failed',
      reason: 'The bank has no such refund.',
      by: 'ada',
    });
    expect(await run.result()).toMatchObject({ state: 'IDLE' });
    expect(await rowOf(session)).toMatchObject({
      status: 'FAILED',
      settled_by: 'ada',
      error_message: 'The bank has no such refund.',
    });
    const late = await another();
    await (await late.send('1')).result();
    expect(await answersOf(late)).toEqual(['{"refunded":"1"}']);
    expect(world.acts.map(({ sessionId }) => sessionId)).toEqual([session.sessionId, late.sessionId]);
    const told = (await session.history()).at(-1)!;
    expect([told.role, told.content]).toEqual([
      'system',
      'A person has found out about the earlier call of refund with {"cents":100,"order":"1"}, whose outcome was told as unknown. The call failed: The bank has no such refund.',
    ]);
    const { type, cause, event } = (await session.transitions()).at(-1)!;
    expect({ type, cause }).toEqual({ type: 'tool.evidenced', cause: 'operator' });
    expect(event).toMatchObject({ results: [{ executionId, outcome: 'failed', by: 'ada' }] });
  });

  test('settled as succeeded: the key answers later calls with what the person said', async () => {
    const { world, session, executionId, another } = await giveUp();
    await session.settle(executionId, { outcome: 'succeeded', output: { refunded: 'by hand' }, by: 'ada' });
    expect(await rowOf(session)).toMatchObject({
      status: 'SUCCESS',
      settled_by: 'ada',
      output_payload: { refunded: 'by hand' },
    });
    const late = await another();
    await (await late.send('1')).result();
    expect(await answersOf(late)).toEqual([
      'Not run again: a call with the same business key has succeeded before. Its result: {"refunded":"by hand"}',
    ]);
    expect(world.acts).toHaveLength(1);
  });

  test('it is settled once, does not run again, and waits where calls of a later turn are open', async () => {
    const { world, session, executionId } = await giveUp();
    const runAgain = session.settle(executionId, { outcome: 'runAgain', by: 'ada' });
    await expect(runAgain).rejects.toMatchObject({
      code: 'EXECUTION_SETTLED',
      message: expect.stringContaining('TIMED_OUT'),
    });
    world.behaves.delete(session.sessionId);
    world.judges.set(session.sessionId, 'ask');
    const { awaiting } = await (await session.send('2')).result();
    const failed = { outcome: 'failed', reason: 'no', by: 'ada' } as const;
    await expect(session.settle(executionId, failed)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await (await session.approve(awaiting[0]!.executionId, { by: 'ada' })).result();
    await session.settle(executionId, failed);
    const again = session.settle(executionId, { outcome: 'succeeded', by: 'bob' });
    await expect(again).rejects.toMatchObject({ code: 'EXECUTION_SETTLED', details: { settledBy: 'ada' } });
    expect(world.acts).toHaveLength(2);
  });
});
