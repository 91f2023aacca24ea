import { expect, test } from 'vitest';
import { openMortal, recoverLater } from '../support/runtime-crash.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';

/** Sessions that this build cannot read: they are left alone, and nobody else suffers. */
export const describeQuarantine: RuntimeSuite = (database) => {
  /** Writes past every guard, as a broken restore or an older build would have. */
  async function corrupt(sessionId: string, set: string): Promise<void> {
    await database().query("SET session_replication_role = 'replica'");
    await database().query(`UPDATE turnlock.agent_sessions SET ${set} WHERE session_id = $1`, [sessionId]);
    await database().query("SET session_replication_role = 'origin'");
  }

  test.each([
    ['garbage', `snapshot = '{"value":"PLANNING"}'`, 'SNAPSHOT_INVALID'],
    ['text', `snapshot = '"x"'`, 'SNAPSHOT_INVALID'],
    ['another state than the row', `snapshot = jsonb_set(snapshot, '{value}', '"COMPLETED"')`, 'SNAPSHOT_INVALID'],
    ['a machine of another name', `machine_id = 'flow'`, 'MACHINE_VERSION_UNSUPPORTED'],
    ['a later machine', 'machine_version = 99', 'MACHINE_VERSION_UNSUPPORTED'],
  ])('C64 a snapshot that is %s is told as such, and is left as it is', async (_, set, code) => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('go')).result();
    await corrupt(session.sessionId, set);
    const row = () =>
      database().query('SELECT * FROM turnlock.agent_sessions WHERE session_id = $1', [session.sessionId]);
    const before = await row();
    for (const action of [
      () => session.status(),
      () => session.send('more'),
      () => session.cancel(),
      () => session.complete(),
      () => runtime.session(session),
    ]) {
      await expect(action(), action.toString()).rejects.toMatchObject({ code });
    }
    expect(await row()).toEqual(before);
    expect((await session.history()).map(({ content }) => content)).toEqual(['go', 'done']);
  });

  test('C27 C64 a session that cannot be read is skipped with the reason, and all others are recovered', async () => {
    let isCrashed = false;
    const agent = scriptedAgent(() => (isCrashed ? 'done' : new Promise<string>(() => undefined)));
    const { runtime, plan } = await openMortal(
      database(),
      [agent],
      [{ point: 'insideEffect', occurrence: 3, fault: 'crash' }],
    );
    const sessions = [];
    for (let count = 0; count < 3; count += 1) sessions.push(await openSession(runtime, agent));
    for (const session of sessions) void session.send('go').catch(() => undefined);
    await plan.struck;
    isCrashed = true;
    const [stuck] = await database().query(
      `SELECT session_id FROM turnlock.agent_sessions WHERE session_id = ANY ($1) AND current_state = 'PLANNING' LIMIT 1`,
      [sessions.map(({ sessionId }) => sessionId)],
    );
    await corrupt(stuck.session_id, `snapshot = '[]'`);
    const { recoveries } = await recoverLater(database(), [agent]);
    expect(recoveries.find(({ sessionId }) => sessionId === stuck.session_id)).toMatchObject({
      skipped: 'SNAPSHOT_INVALID',
    });
    const others = recoveries.filter(({ sessionId }) => sessionId !== stuck.session_id);
    expect(others.length).toBeGreaterThan(0);
    for (const { state } of others) expect(state).toBe('IDLE');
    await corrupt(stuck.session_id, `current_state = 'COMPLETED'`);
  });

  test('a session of an agent that the build does not have, or has in an older version, is told so and waits', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const other = scriptedAgent('other');
    const without = await (await openRuntime(database(), [other])).session(session);
    await expect(without.send('go')).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
    const newer = await (await openRuntime(database(), [{ ...agent, version: 2 }])).session(session);
    expect(await (await newer.send('go')).result()).toMatchObject({ reply: 'done' });
    for (const older of [session, await runtime.session(session)]) {
      await expect(older.send('more')).rejects.toMatchObject({ code: 'AGENT_VERSION_MISMATCH' });
    }
    expect(await session.status()).toMatchObject({ state: 'IDLE', version: 2 });
    expect(await (await newer.send('more')).result()).toMatchObject({ reply: 'done' });
  });
};
