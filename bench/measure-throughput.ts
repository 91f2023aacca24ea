import { newSession, openBenchRuntime, runOnce } from './bench-runtime.ts';
import { median } from './statistics.ts';

/** Sessions that run at the same time in the second form. */
export const SESSIONS = 8;

/** Rounds, each with one session and then with eight. */
const ROUNDS = 3;

/** Runs per second of one process, with a model and a tool that take no time. */
export interface Throughput {
  one: number;
  eight: number;
  /** How many times as many runs eight sessions make as one. */
  ratio: number;
}

/** Measures one session and eight at once in turns, each time `runs` runs in all. */
export async function measureThroughput(url: string, runs: number): Promise<Throughput> {
  const runtime = await openBenchRuntime({ connectionString: url, max: SESSIONS });
  try {
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => newSession(runtime)));
    await Promise.all(sessions.map((session) => runOnce(session)));
    const one: number[] = [];
    const eight: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const single = await newSession(runtime);
      one.push(await perSecond([single], runs));
      eight.push(await perSecond(sessions, Math.ceil(runs / SESSIONS)));
    }
    const medians = { one: median(one), eight: median(eight) };
    return { ...medians, ratio: medians.eight / medians.one };
  } finally {
    await runtime.close();
  }
}

async function perSecond(sessions: Awaited<ReturnType<typeof newSession>>[], runs: number): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(
    sessions.map(async (session) => {
      for (let run = 0; run < runs; run += 1) await runOnce(session);
    }),
  );
  return (sessions.length * runs * 1_000) / (performance.now() - startedAt);
}
