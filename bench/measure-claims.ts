import type pg from 'pg';
import { postgres } from '../adapters/databases/postgres.ts';
import { systemEnvironment } from '../environment.ts';
import { resolveLimits } from '../limits.ts';
import { claimSessions } from '../persistence/claim-sessions.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { buildOf } from '../runtime/services.ts';
import type { BenchDatabase } from './bench-database.ts';
import { oneToolAgent } from './one-tool-agent.ts';
import { median } from './statistics.ts';
import type { WorkersOptions } from './workers-options.ts';

/** What one look for work costs: a transaction of a worker that asks for so many sessions, and when the next becomes due. */
export interface LookCost {
  perSecond: number;
  /** Rows of sessions that one look read, by a walk through the table and by an index. */
  scanned: number;
  fetched: number;
  /** Pages that one call of `claim_sessions` touched. */
  pages: number;
}

/** Looks that find nothing and looks that find as many as they want, before and after there were sleepers. */
export interface Claims {
  sleepers: number;
  found: number;
  idle: { without: LookCost; with: LookCost };
  busy: { without: LookCost; with: LookCost };
}

/** How many sessions a look asks for, and how many are due in the second form. */
export const WANTED = 16;

/** Rounds of looks; the middle one counts. */
const ROUNDS = 3;

const build = buildOf(new Map([[oneToolAgent.name, oneToolAgent]]));

/** Measures on the database as it is, and again with `sleepers` more sessions at rest, half of them with a wake to come. */
export async function measureClaims(
  { url, owner }: BenchDatabase,
  { sleepers, looks }: Pick<WorkersOptions, 'sleepers' | 'looks'>,
): Promise<Claims> {
  const limits = resolveLimits();
  const database = await postgres(url).connect({ environment: systemEnvironment, limits });
  try {
    const store: Store = { database, environment: systemEnvironment, limits };
    const bench = { owner, store, looks };
    const withoutAny = await measureLooks(bench);
    await addSleepers(owner, sleepers);
    const withSleepers = await measureLooks(bench);
    return {
      sleepers,
      found: withSleepers.found,
      idle: { without: withoutAny.idle, with: withSleepers.idle },
      busy: { without: withoutAny.busy, with: withSleepers.busy },
    };
  } finally {
    await database.close();
  }
}

interface Bench {
  owner: pg.Client;
  store: Store;
  looks: number;
}

async function measureLooks(bench: Bench): Promise<{ idle: LookCost; busy: LookCost; found: number }> {
  const { owner } = bench;
  const idle = await costOfLook(bench);
  await owner.query(INSERT, ['due', WANTED, '-1 second']);
  await owner.query('VACUUM ANALYZE turnlock.agent_sessions');
  const busy = await costOfLook(bench);
  const found = (await look(bench.store)).length;
  await owner.query(`DELETE FROM turnlock.agent_sessions WHERE user_id = 'due'`);
  await owner.query('VACUUM ANALYZE turnlock.agent_sessions');
  return { idle, busy, found };
}

async function addSleepers(owner: pg.Client, count: number): Promise<void> {
  await owner.query(INSERT, ['asleep', Math.ceil(count / 2), '1 day']);
  await owner.query(INSERT, ['asleep', Math.floor(count / 2), null]);
  await owner.query('VACUUM ANALYZE turnlock.agent_sessions');
}

/** Sessions at rest, with a wake at that distance from now. */
const INSERT = `INSERT INTO turnlock.agent_sessions
    (tenant_id, user_id, active_model_id, agent_name, agent_version, machine_id, machine_version, snapshot, wake_at)
  SELECT 'bench', $1, 'scripted', '${oneToolAgent.name}', 1, 'session', 1, '{}', turnlock.turnlock_now() + $3::interval
  FROM generate_series(1, $2::int)`;

async function look(store: Store) {
  return (await claimSessions(store, { build, excluding: [], max: WANTED })).keys;
}

async function costOfLook({ owner, store, looks }: Bench): Promise<LookCost> {
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    for (let count = 0; count < looks; count += 1) await look(store);
    rates.push((looks * 1_000) / (performance.now() - startedAt));
  }
  return { perSecond: median(rates), ...(await rowsRead(owner)), pages: await pagesTouched(owner) };
}

const CLAIM = `turnlock.claim_sessions(${WANTED}, '${JSON.stringify(build)}')`;

/** Counters of the server, which a connection's own statements reach when it flushes them. */
async function rowsRead(owner: pg.Client): Promise<{ scanned: number; fetched: number }> {
  const read = async () => {
    await owner.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await owner.query(
      `SELECT seq_tup_read::float8 AS scanned, COALESCE(idx_tup_fetch, 0)::float8 AS fetched
        FROM pg_stat_user_tables WHERE relid = 'turnlock.agent_sessions'::regclass`,
    );
    return rows[0];
  };
  const before = await read();
  await owner.query(`SELECT * FROM ${CLAIM}`);
  await owner.query('SELECT turnlock.next_due_at()');
  const after = await read();
  return { scanned: after.scanned - before.scanned, fetched: after.fetched - before.fetched };
}

/** The second one counts: the first of a connection reads the catalogs too. */
async function pagesTouched(owner: pg.Client): Promise<number> {
  const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM ${CLAIM}`;
  await owner.query(explain);
  const { rows } = await owner.query(explain);
  const { Plan: plan } = rows[0]['QUERY PLAN'][0];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
