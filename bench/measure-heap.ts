import { setImmediate as turn } from 'node:timers/promises';
import type { Session } from '../index.ts';
import { newSession, openBenchRuntime, runOnce } from './bench-runtime.ts';
import type { MemoryOptions } from './memory-options.ts';

/** Bytes that are in use on the heap once everything that nobody holds is collected. */
export interface HeapGrowth {
  first: number;
  last: number;
}

/** What a runtime keeps of runs that are over. */
export interface HeapCost {
  /** Each run in a session of its own. */
  newSessions: HeapGrowth;
  /** All runs in one session. */
  oneSession: HeapGrowth;
}

/** Measures both in this process, which must have been started with `--expose-gc`. */
export async function measureHeap(url: string, options: MemoryOptions): Promise<HeapCost> {
  const runtime = await openBenchRuntime(url);
  try {
    await runOnce(await newSession(runtime)); // what is loaded and made once is no growth
    const session = await newSession(runtime);
    return {
      newSessions: await growthOf(options, () => newSession(runtime)),
      oneSession: await growthOf(options, async () => session),
    };
  } finally {
    await runtime.close();
  }
}

async function growthOf({ first, last }: MemoryOptions, sessionOfRun: () => Promise<Session>): Promise<HeapGrowth> {
  const growth = { first: 0, last: 0 };
  for (let run = 1; run <= last; run += 1) {
    await runOnce(await sessionOfRun());
    if (run === first) growth.first = await heapInUse();
  }
  growth.last = await heapInUse();
  return growth;
}

/** Collects until nothing more comes free: what is finalised in one collection is freed by the next. */
async function heapInUse(): Promise<number> {
  if (global.gc === undefined) throw new Error('no collector to call: start Node with --expose-gc');
  let before = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round += 1) {
    global.gc();
    await turn();
    const { heapUsed } = process.memoryUsage();
    if (heapUsed > before * 0.999) break;
    before = heapUsed;
  }
  return process.memoryUsage().heapUsed;
}
