import type pg from 'pg';
import type { Runtime, Session } from '../index.ts';
import type { BenchDatabase } from './bench-database.ts';
import { newSession, openBenchRuntime, runOnce } from './bench-runtime.ts';
import { costOf } from './cost.ts';
import { type CountedPool, countedPool } from './counted-pool.ts';
import { EIGHT_CALLS, TURNS_OF_EIGHT_CALLS } from './one-tool-agent.ts';
import { difference, median } from './statistics.ts';

/** At least so many turns stand in the long session before the first sample. */
export const EARLIER_TURNS = 1_000;

/** Medians of one run, in a session without earlier turns and in one with 1,000. */
export interface Compared {
  none: number;
  many: number;
  /** How far apart they are, as a share of the smaller one. */
  difference: number;
}

/** What a run costs in a long session, beside one in a new session. */
export interface Growth {
  statements: Compared;
  roundTrips: Compared;
  /** Bytes of WAL without images of whole pages: what is really new. Absent on a given server, whose settings are left alone. */
  walBytes?: Compared;
  /**
   * Bytes of WAL as the server is set. On a server of our own right after a CHECKPOINT, when every page is logged whole at its first change:
   * a long session has its rows and index entries on more pages than a new one, so this compares places, not rows.
   */
  walBytesWithPages: Compared;
  /** Milliseconds, for their ratio. */
  ms: Compared;
}

interface Sample {
  statements: number;
  roundTrips: number;
  walBytes: number;
  ms: number;
}

/** Compares runs at 1,000 earlier turns with runs at none, one after the other in turns. */
export async function measureGrowth({ url, owner, isOwnServer }: BenchDatabase, runs: number): Promise<Growth> {
  const counted = countedPool(url);
  const runtime = await openBenchRuntime(counted.pool);
  try {
    const long = await newSession(runtime);
    for (let turns = 0; turns < EARLIER_TURNS; turns += TURNS_OF_EIGHT_CALLS) await runOnce(long, EIGHT_CALLS);
    const scene = { counted, owner, runtime, long };
    if (!isOwnServer) {
      const { walBytes, ...growth } = await compare(scene, runs, false);
      return { ...growth, walBytesWithPages: walBytes };
    }
    await setFullPageWrites(owner, 'off');
    const growth = await compare(scene, runs, false);
    await setFullPageWrites(owner, 'on');
    const { walBytes: walBytesWithPages } = await compare(scene, Math.ceil(runs / 2), true);
    return { ...growth, walBytesWithPages };
  } finally {
    await runtime.close();
    await counted.pool.end();
  }
}

interface Scene {
  counted: CountedPool;
  owner: pg.Client;
  runtime: Runtime;
  long: Session;
}

async function compare(scene: Scene, runs: number, checkpoints: boolean): Promise<Record<keyof Sample, Compared>> {
  const none: Sample[] = [];
  const many: Sample[] = [];
  for (let run = 0; run < runs; run += 1) {
    none.push(await sample(scene, await newSession(scene.runtime), checkpoints));
    many.push(await sample(scene, scene.long, checkpoints));
  }
  // The log is everybody's: what the server itself writes meanwhile only adds to it, so the least of all runs is theirs.
  const typical = (name: keyof Sample) => (values: number[]) =>
    name === 'walBytes' ? Math.min(...values) : median(values);
  const compared = (name: keyof Sample): Compared => {
    const of = typical(name);
    const pair = { none: of(none.map((one) => one[name])), many: of(many.map((one) => one[name])) };
    return { ...pair, difference: difference(pair.none, pair.many) };
  };
  return {
    statements: compared('statements'),
    roundTrips: compared('roundTrips'),
    walBytes: compared('walBytes'),
    ms: compared('ms'),
  };
}

async function sample({ counted, owner }: Scene, session: Session, checkpoint: boolean): Promise<Sample> {
  if (checkpoint) await owner.query('CHECKPOINT');
  counted.take();
  const before = await walPosition(owner);
  const startedAt = performance.now();
  await runOnce(session);
  const ms = performance.now() - startedAt;
  const after = await walPosition(owner);
  return { ...costOf(counted.take()), walBytes: Number(after - before), ms };
}

async function walPosition(owner: pg.Client): Promise<bigint> {
  const { rows } = await owner.query(`SELECT pg_current_wal_insert_lsn() - '0/0' AS position`);
  return BigInt(rows[0].position);
}

/** Takes hold with the next checkpoint. */
async function setFullPageWrites(owner: pg.Client, value: 'on' | 'off'): Promise<void> {
  await owner.query(`ALTER SYSTEM SET full_page_writes = ${value}`);
  await owner.query('SELECT pg_reload_conf()');
  for (;;) {
    const { rows } = await owner.query('SHOW full_page_writes');
    if (rows[0].full_page_writes === value) break;
  }
  await owner.query('CHECKPOINT');
}
