import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { BenchDatabase } from './bench-database.ts';
import { newSession, openBenchRuntime } from './bench-runtime.ts';
import { type BenchWorker, enqueue, startWorker, until, untilAllRest } from './bench-workers.ts';
import { hangingAgent } from './hanging-agent.ts';
import { median } from './statistics.ts';
import type { WorkersOptions } from './workers-options.ts';

/** From a worker's SIGKILL to the takeover by another one, as multiples of the lease. */
export interface Takeover {
  leaseMs: number;
  deaths: number;
  median: number;
  longest: number;
}

/** Kills workers inside a tool, each at another moment between two heartbeats, and reads when another one took over. */
export async function measureTakeover(
  { url, owner }: BenchDatabase,
  { leases, deaths }: Pick<WorkersOptions, 'leases' | 'deaths'>,
): Promise<Takeover[]> {
  const takeovers: Takeover[] = [];
  for (const leaseMs of leases) {
    const times = await killOneAfterTheOther(owner, { url, leaseMs }, deaths);
    const multiples = times.map((ms) => ms / leaseMs);
    takeovers.push({ leaseMs, deaths, median: median(multiples), longest: Math.max(...multiples) });
  }
  return takeovers;
}

/** Two are at work all the time: whoever begins the call dies, and the other one takes over. */
async function killOneAfterTheOther(
  owner: pg.Client,
  where: { url: string; leaseMs: number },
  deaths: number,
): Promise<number[]> {
  const times: number[] = [];
  const workers = new Set<BenchWorker>();
  let began = Promise.withResolvers<BenchWorker>();
  const client = await openBenchRuntime(
    where.url,
    hangingAgent(() => undefined),
  );
  const add = async () => {
    const worker = startWorker();
    workers.add(worker);
    worker.on('began', () => began.resolve(worker));
    await worker.ask('work', where);
  };
  try {
    await Promise.all([add(), add()]);
    for (let death = 0; death < deaths; death += 1) {
      began = Promise.withResolvers();
      const { sessionId: id } = await newSession(client, 'hanging');
      await enqueue(owner, [id]);
      const worker = await began.promise;
      await wait(((death + 0.5) / deaths) * where.leaseMs);
      times.push(await killAndWatch(owner, worker, id));
      workers.delete(worker);
      await untilAllRest(owner, [id]);
      await add();
    }
    return times;
  } finally {
    await Promise.all([...workers].map((worker) => worker.kill()));
    await client.close();
  }
}

/** Milliseconds by the database's clock. */
async function killAndWatch(owner: pg.Client, worker: BenchWorker, sessionId: string): Promise<number> {
  const [{ rows: killed }] = await Promise.all([owner.query('SELECT turnlock.turnlock_now() AS at'), worker.kill()]);
  const tookOverAt = await until('a takeover', async () => {
    const { rows } = await owner.query(
      `SELECT created_at AS at FROM turnlock.agent_transitions WHERE session_id = $1 AND event = 'worker.tookOver'
        AND created_at > $2`,
      [sessionId, killed[0].at],
    );
    return rows[0]?.at as Date | undefined;
  });
  return tookOverAt.getTime() - killed[0].at.getTime();
}
