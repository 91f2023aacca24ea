import type pg from 'pg';
import type { Runtime } from '../index.ts';
import type { BenchDatabase } from './bench-database.ts';
import { newSession, openBenchRuntime } from './bench-runtime.ts';
import { type BenchWorker, enqueue, startWorker, stopWorker, untilAllRest } from './bench-workers.ts';
import { median } from './statistics.ts';
import type { WorkersOptions } from './workers-options.ts';

/** Runs per second of so many processes while so many sessions have work. */
export interface WorkerRate {
  processes: number;
  sessions: number;
  perSecond: number;
}

/** Rounds of each combination; the middle one counts. */
const ROUNDS = 3;

/** The default lease, which no process of this measurement loses. */
const LEASE_MS = 15_000;

/**
 * How fast workers empty inboxes. Each session's messages are all there when the clock starts, and wait for each other: one session is
 * always one run at a time.
 */
export async function measureWorkers(
  { url, owner }: BenchDatabase,
  { runs, processes, sessions }: WorkersOptions,
): Promise<WorkerRate[]> {
  const rates: WorkerRate[] = [];
  const workers: BenchWorker[] = [];
  const client = await openBenchRuntime(url); // makes sessions and drives none
  try {
    for (const count of processes) {
      while (workers.length < count) {
        const worker = startWorker();
        workers.push(worker);
        await worker.ask('work', { url, leaseMs: LEASE_MS });
      }
      await rate({ owner, client }, Math.max(...sessions), runs); // what is loaded and compiled at first use is no part of it
      for (const parallel of sessions) {
        const rounds: number[] = [];
        for (let round = 0; round < ROUNDS; round += 1) rounds.push(await rate({ owner, client }, parallel, runs));
        rates.push({ processes: count, sessions: parallel, perSecond: median(rounds) });
      }
    }
    await Promise.all(workers.map(stopWorker));
    return rates;
  } finally {
    for (const worker of workers) await worker.kill();
    await client.close();
  }
}

async function rate(
  { owner, client }: { owner: pg.Client; client: Runtime },
  sessions: number,
  runs: number,
): Promise<number> {
  const each = Math.ceil(runs / sessions);
  const opened = await Promise.all(Array.from({ length: sessions }, () => newSession(client)));
  const ids = opened.map(({ sessionId }) => sessionId);
  const startedAt = performance.now();
  await enqueue(owner, ids, each);
  await untilAllRest(owner, ids);
  return (sessions * each * 1_000) / (performance.now() - startedAt);
}
