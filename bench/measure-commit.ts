import type pg from 'pg';
import type { Store } from '../persistence/session-transaction.ts';
import type { BenchDatabase } from './bench-database.ts';
import { insertSession, openStore } from './bench-store.ts';
import { countedPool } from './counted-pool.ts';
import { type RecordedRun, recordRun, replayRun } from './recorded-run.ts';
import { median, quantile } from './statistics.ts';
import { unitOfWorkRun } from './unit-of-work-run.ts';

/** Rounds before the first that counts: compilers, caches and plans are warm then. */
const WARM_UP = 5;

/** Milliseconds of one commit, over all four of a run. */
export interface Latency {
  p50: number;
  p95: number;
}

/** How long a commit takes in four ways, which were measured in turns. */
export interface CommitLatency {
  unitOfWork: Latency;
  handWritten: Latency;
  /** On tables without triggers and row-level security. */
  bareUnitOfWork: Latency;
  bareHandWritten: Latency;
}

/** Measures the four ways in turns, `runs` runs of four commits each. */
export async function measureCommit({ url, bareUrl }: BenchDatabase, runs: number): Promise<CommitLatency> {
  const guarded = await openSide(url);
  const bare = await openSide(bareUrl);
  try {
    const times: Record<keyof CommitLatency, number[]> = {
      unitOfWork: [],
      handWritten: [],
      bareUnitOfWork: [],
      bareHandWritten: [],
    };
    for (let run = -WARM_UP; run < runs; run += 1) {
      const round = {
        unitOfWork: await guarded.unitOfWork(),
        bareUnitOfWork: await bare.unitOfWork(),
        handWritten: await guarded.handWritten(),
        bareHandWritten: await bare.handWritten(),
      };
      if (run >= 0) for (const way of Object.keys(times) as (keyof CommitLatency)[]) times[way].push(...round[way]);
    }
    return {
      unitOfWork: latencyOf(times.unitOfWork),
      handWritten: latencyOf(times.handWritten),
      bareUnitOfWork: latencyOf(times.bareUnitOfWork),
      bareHandWritten: latencyOf(times.bareHandWritten),
    };
  } finally {
    await guarded.close();
    await bare.close();
  }
}

function latencyOf(times: readonly number[]): Latency {
  return { p50: median(times), p95: quantile(times, 0.95) };
}

interface Side {
  unitOfWork(): Promise<number[]>;
  handWritten(): Promise<number[]>;
  close(): Promise<void>;
}

/** One connection, over which both ways go. */
async function openSide(url: string): Promise<Side> {
  const { pool, take } = countedPool(url);
  const store = await openStore(pool);
  const recorded = await record(store, take);
  return {
    unitOfWork: async () => await unitOfWorkRun(store, await insertSession(store)),
    handWritten: async () => await replay(pool, recorded, store),
    async close() {
      await store.database.close();
      await pool.end();
    },
  };
}

async function record(store: Store, take: ReturnType<typeof countedPool>['take']): Promise<RecordedRun> {
  const key = await insertSession(store);
  take();
  await unitOfWorkRun(store, key);
  return recordRun(key.sessionId, take());
}

async function replay(pool: pg.Pool, recorded: RecordedRun, store: Store): Promise<number[]> {
  const key = await insertSession(store);
  const client = await pool.connect();
  try {
    return await replayRun(client, recorded, key);
  } finally {
    client.release();
  }
}
