import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { atTestEnd } from '../support/at-test-end.ts';
import { spawnChild } from '../support/child.ts';
import { onPostgres } from '../support/runtime-database.ts';
import type { Child } from '../support/start-child.ts';
import { waitFor } from '../support/wait-for.ts';
import type { OffClockTask } from './off-clock.child.ts';

const HOUR_MS = 3_600_000;

/** A lease that a test outlives, a back-off that is seen. */
const LIMITS = { leaseMs: 3_000, heartbeatMs: 500, sweepMs: 100, modelBackoffMs: 2_000 };

onPostgres((database) => {
  /** A process with another zone, whose clock is off by so much. */
  function start(shiftMs: number, zone: string, task: OffClockTask): Child {
    const preload = resolve('test/hostile/shifted-date.ts');
    const env = { TZ: zone, TURNLOCK_TEST_SHIFT_MS: String(shiftMs), NODE_OPTIONS: `--import=${preload}` };
    return spawnChild('test/hostile/off-clock.child.ts', { args: [JSON.stringify(task)], env });
  }

  /** The session of that external id, its times in milliseconds from the database's now. */
  async function timesOf(externalId: string) {
    const [row] = await database().query(
      `SELECT current_state AS state, lease_token AS token, recoveries,
          extract(epoch FROM lease_expires_at - turnlock.turnlock_now())::float8 * 1000 AS lease_ms,
          extract(epoch FROM wake_at - updated_at)::float8 * 1000 AS wake_ms,
          extract(epoch FROM turnlock.turnlock_now() - created_at)::float8 * 1000 AS age_ms,
          (SELECT max(extract(epoch FROM deadline_at - started_at)::float8 * 1000)
            FROM turnlock.agent_tool_executions e WHERE e.session_id = s.session_id) AS deadline_ms
        FROM turnlock.agent_sessions s WHERE external_id = $1`,
      [externalId],
    );
    return row as Record<string, number> & { state: string };
  }

  test.each([
    [-2 * HOUR_MS, 2 * HOUR_MS, 'Asia/Tokyo', 'America/St_Johns'],
    [2 * HOUR_MS, -2 * HOUR_MS, 'America/St_Johns', 'Asia/Tokyo'],
  ])(
    'C61 processes whose clocks are %i and %i ms off, in %s and %s: back-off, lease, deadline and takeover are right',
    async (shiftMs, otherShiftMs, zone, otherZone) => {
      const folder = await mkdtemp(join(tmpdir(), 'turnlock-clock-'));
      atTestEnd(() => rm(folder, { recursive: true, force: true }));
      const task = { url: database().url, ledger: join(folder, 'ledger'), limits: LIMITS };
      const externalId = `clock ${shiftMs}`;
      const first = start(shiftMs, zone, { ...task, name: 'first', sends: externalId, hangs: true });
      const { now, zoneMinutes } = await first.next('ready');
      expect(Math.abs((now as number) - shiftMs - Date.now())).toBeLessThan(HOUR_MS);
      const winter = new Date(Date.UTC(2026, 0, 1)); // neither zone is that of the test
      expect(zoneMinutes).not.toBe(winter.getTimezoneOffset());

      const backingOff = await waitFor(
        async () => {
          const row = await timesOf(externalId);
          return row?.wake_ms != null && row;
        },
        { for: 'the back-off', everyMs: 2 },
      );
      expect(backingOff.wake_ms).toBeGreaterThanOrEqual(1_000);
      expect(backingOff.wake_ms).toBeLessThanOrEqual(3_000);
      expect(Math.abs(backingOff.age_ms!)).toBeLessThan(60_000);

      await first.next('acted');
      const second = start(otherShiftMs, otherZone, { ...task, name: 'second', hangs: false });
      await second.next('ready');
      const running = await timesOf(externalId);
      expect(running).toMatchObject({ state: 'EXECUTING_TOOL', recoveries: 0, deadline_ms: 60_000 });
      expect(running.lease_ms).toBeGreaterThan(0);
      expect(running.lease_ms).toBeLessThanOrEqual(LIMITS.leaseMs);

      await first.kill();
      const { lease_ms: left } = await timesOf(externalId);
      expect(left).toBeGreaterThan(0);
      await second.next('acted');
      // It took over once the lease had run out by the database's clock, and not before.
      const [{ after_ms: afterMs }] = (await database().query(
        `SELECT extract(epoch FROM t.created_at - s.created_at)::float8 * 1000 AS after_ms
          FROM turnlock.agent_transitions t JOIN turnlock.agent_sessions s USING (session_id)
          WHERE external_id = $1 AND event = 'worker.tookOver'`,
        [externalId],
      )) as [{ after_ms: number }];
      expect(afterMs).toBeGreaterThan(LIMITS.leaseMs);
      await waitFor(async () => (await timesOf(externalId)).state === 'IDLE', { for: 'the session to rest' });
      expect((await readFile(task.ledger, 'utf8')).trim().split('\n')).toEqual(['first', 'second']);
    },
  );
});
