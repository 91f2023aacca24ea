// A module is mocked here, so this file needs a process of its own: files of the quick levels share theirs.
import { expect, test, vi } from 'vitest';
import { allRest, leaveOwed, rowsOf } from '../runtime/worker/owed.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';
import { waitForLockWait } from '../support/wait-for-lock-wait.ts';
import { withClient } from '../support/with-client.ts';
import { chargingAgent, expectCharged } from './charging.ts';

/** The key of every session, and of a lock of the application. */
const KEY = '42';

vi.mock('../../persistence/keys/lock-key.ts', () => ({ lockKey: () => KEY }));

onPostgres((database) => {
  test('C55 sessions whose lock keys are all equal come to rest, side by side, whoever drives them', async () => {
    const { agent, charges } = chargingAgent();
    const owed = await leaveOwed(database(), agent, 2);
    const runtimes = [await openRuntime(database(), [agent]), await openRuntime(database(), [agent])];
    for (const runtime of runtimes) await runtime.start();
    const sessions = await Promise.all(
      Array.from({ length: 4 }, (_, index) => openSession(runtimes[index % 2]!, agent)),
    );
    const runs = await Promise.all(sessions.map((session) => session.send('go')));
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(results.every(({ state, reply }) => state === 'IDLE' && reply === 'done')).toBe(true);
    await allRest(database(), owed);
    await expectCharged(database(), runtimes[0]!, charges, sessions);
    expect(charges).toHaveLength(6);
    expect((await rowsOf(database(), sessions)).map(({ takeovers }) => takeovers)).toEqual(Array(4).fill(0));
  });

  test('C55 while another one has the lock, commits wait and reads do not', async () => {
    const { agent, charges } = chargingAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await withClient(database().url, async (application) => {
      await application.query('SELECT pg_advisory_lock($1)', [KEY]);
      const sent = session.send('go');
      await waitForLockWait(database().url, { event: 'advisory' });
      expect(await session.status()).toMatchObject({ state: 'IDLE', version: 0 });
      expect(await session.history()).toEqual([]);
      await openSession(runtime, agent);
      await application.query('SELECT pg_advisory_unlock($1)', [KEY]);
      expect(await (await sent).result()).toMatchObject({ state: 'IDLE' });
    });
    await expectCharged(database(), runtime, charges, [session]);
  });

  test('C55 a lock that is not given back is a refusal in time, and nothing is written', async () => {
    const { agent } = chargingAgent();
    const limits = { lockTimeoutMs: 100 };
    const session = await openSession(await openRuntime(database(), [agent], { limits }), agent);
    await withClient(database().url, async (application) => {
      await application.query('SELECT pg_advisory_lock($1)', [KEY]);
      await expect(session.send('go')).rejects.toMatchObject({ code: 'DATABASE_TRANSIENT', retryable: true });
      expect(await session.status()).toMatchObject({ state: 'IDLE', version: 0 });
    });
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE' });
  });
});
