import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../adapters/cli/rehearse/seeded-random.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { spawnChild } from '../../support/child.ts';
import { seed } from '../../support/property.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import type { Child } from '../../support/start-child.ts';
import { allRest } from '../worker/owed.ts';
import { FAMILY_LIMITS, family } from './family.ts';
import type { FamilyTask } from './family-worker.child.ts';
import { answersOf, childrenOf } from './scene.ts';

/** How many processes are killed. */
const KILLS = 8;

onPostgres((database) => {
  test('kill -9 again and again while parents wait for children: each child is one session, its act is done once, and every parent comes to rest with it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'turnlock-children-'));
    atTestEnd(() => rm(folder, { recursive: true, force: true }));
    const ledger = join(folder, 'ledger');
    const start = (): Child => {
      const task: FamilyTask = { url: database().url, ledger, pauseMs: 30 };
      return spawnChild('test/runtime/children/family-worker.child.ts', { args: [JSON.stringify(task)] });
    };
    const boss = family({ act: () => undefined, pause: async () => undefined });
    const sender = await openRuntime(database(), [boss], { drive: false, limits: FAMILY_LIMITS });
    const sessions = await Promise.all(Array.from({ length: 6 }, () => openSession(sender, boss)));
    const random = seededRandom(seed);
    const workers = [start(), start()];
    for (const worker of workers) await worker.next('ready', { timeoutMs: 90_000 });
    for (const session of sessions) await session.send('go');
    for (let kills = 0; kills < KILLS; kills += 1) {
      await pause(random.int(100, 900));
      const victim = random.int(0, workers.length - 1);
      await workers[victim]!.kill();
      workers[victim] = start();
      // The other one goes on meanwhile, if it has begun by now.
      if (random.chance(0.7)) await workers[victim]!.next('ready', { timeoutMs: 90_000 });
    }
    // The killing stops; now everything must come to rest.
    await allRest(database(), sessions, 'IDLE', { timeoutMs: 90_000 });
    for (const worker of workers) await worker.kill();

    for (const session of sessions) {
      expect(await answersOf(session)).toEqual(['noted gold', 'noted iron']);
      const children = await childrenOf(database(), session);
      expect(children.map(({ state }) => state)).toEqual(['IDLE', 'IDLE']);
      expect(new Set(children.map(({ execution }) => execution)).size).toBe(2);
    }
    const keys = new Set(readFileSync(ledger, 'utf8').trim().split('\n'));
    expect(keys.size).toBe(2 * sessions.length);
    const [{ recoveries }] = await database().query(
      `SELECT count(*)::int AS recoveries FROM turnlock.agent_transitions WHERE event = 'worker.tookOver'`,
    );
    expect(recoveries).toBeGreaterThan(sessions.length);
    const told = await database().query('SELECT execution_id FROM turnlock.agent_tool_evidence');
    expect(new Set(told.map(({ execution_id }) => execution_id)).size).toBe(told.length);
  }, 400_000);
});
