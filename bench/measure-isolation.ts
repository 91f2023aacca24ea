import pg from 'pg';
import { listSessions } from '../persistence/list-sessions.ts';
import { readHistory } from '../persistence/read-history.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { Store } from '../persistence/session-transaction.ts';
import type { BenchDatabase } from './bench-database.ts';
import { insertSession, openStore } from './bench-store.ts';
import { fillSessions } from './fill-sessions.ts';
import { seedSession } from './seed-session.ts';
import { median, quantile } from './statistics.ts';
import { unitOfWorkRun } from './unit-of-work-run.ts';

/** What is measured; all of it by the statements of the runtime. */
export type Measured = 'commit' | 'history' | 'list';

/** Milliseconds with row-level security, and without, of as many samples. */
export interface Compared {
  samples: number;
  with: { p50: number; p95: number };
  without: { p50: number; p95: number };
}

/** Which data there is. */
export const TENANTS = 5;
export const SESSIONS = 1_000;
export const TURNS = 1_000;

/** Rounds before the first that counts: compilers, caches and plans are warm then. */
const WARM_UP = 10;

type Side = 'with' | 'without';

/**
 * The same work on the same tables by two roles that have the same rights, in turns, each first as often as the other. The policies hold for one
 * of them; the other may bypass them. Triggers, foreign keys and the conditions on the tenant in our statements hold for both.
 */
export async function measureIsolation(
  { url, owner }: BenchDatabase,
  rounds: number,
): Promise<Record<Measured, Compared>> {
  const { username } = new URL(url);
  const bypassing = `${username}_bypass`;
  const password = new URL(url).password;
  await owner.query(`CREATE ROLE ${bypassing} LOGIN PASSWORD '${password}' BYPASSRLS IN ROLE ${username}`);
  const sides = {
    with: await openSide(url),
    without: await openSide(Object.assign(new URL(url), { username: bypassing }).href),
  };
  try {
    for (let tenant = 1; tenant <= TENANTS; tenant += 1) await fillSessions(owner, `tenant ${tenant}`, SESSIONS);
    const long = await seedSession(owner, { tenantId: 'tenant 1', agentName: 'bench', runs: TURNS / 4 });
    await owner.query('VACUUM ANALYZE');
    const times = timesOf();
    for (let round = -WARM_UP; round < rounds; round += 1) {
      const order: Side[] = round % 2 === 0 ? ['with', 'without'] : ['without', 'with'];
      for (const side of order) {
        const taken = await sides[side].work(long);
        if (round >= 0) for (const what of MEASURED) times[what][side].push(...taken[what]);
      }
    }
    return {
      commit: compare(times.commit),
      history: compare(times.history),
      list: compare(times.list),
    };
  } finally {
    await sides.with.close();
    await sides.without.close();
    await owner.query(`DROP ROLE ${bypassing}`);
  }
}

const MEASURED = ['commit', 'history', 'list'] as const;

const timesOf = (): Record<Measured, Record<Side, number[]>> => ({
  commit: { with: [], without: [] },
  history: { with: [], without: [] },
  list: { with: [], without: [] },
});

function compare(times: Record<Side, number[]>): Compared {
  const latency = (values: number[]) => ({ p50: median(values), p95: quantile(values, 0.95) });
  return { samples: times.with.length, with: latency(times.with), without: latency(times.without) };
}

/** One connection of one role. */
async function openSide(connectionString: string) {
  const pool = new pg.Pool({ connectionString, max: 1, application_name: 'turnlock-bench' });
  const store = await openStore(pool);
  return {
    work: (long: SessionKey) => work(store, long),
    async close() {
      await store.database.close();
      await pool.end();
    },
  };
}

/** The four commits of a run, a long history and a list, four times each. */
async function work(store: Store, { tenantId, sessionId }: SessionKey): Promise<Record<Measured, number[]>> {
  const commit = await unitOfWorkRun(store, await insertSession(store));
  const { leaseMs } = store.limits;
  const runId = '00000000-0000-4000-8000-000000000000';
  const history = await fourTimes(() => readHistory(store, { tenantId, sessionId, runId }, leaseMs));
  const list = await fourTimes(() => listSessions(store, { tenantId, limit: 50 }));
  return { commit, history, list };
}

async function fourTimes(act: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    const from = performance.now();
    await act();
    times.push(performance.now() - from);
  }
  return times;
}
