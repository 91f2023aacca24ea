import { openBenchDatabase } from './bench-database.ts';
import { describeMachine } from './machine.ts';
import { measureHeap } from './measure-heap.ts';
import { measureIdle } from './measure-idle.ts';
import { MEMORY_USAGE, type MemoryOptions, readMemoryOptions } from './memory-options.ts';
import { type MemoryResult, memoryViolationsOf, renderMemoryReport } from './memory-report.ts';

/*
 * What stays in memory: whether a process that makes run after run keeps anything of them, and what an idle one takes. See
 * docs/performance.md for what came of it.
 */

async function measure(options: MemoryOptions): Promise<MemoryResult> {
  const database = await openBenchDatabase(options.database);
  try {
    const machine = await describeMachine(database.owner);
    const idle = await measureIdle(database.url, options.idleSeconds);
    const heap = await measureHeap(database.url, options);
    return { machine, options, heap, idle, violations: memoryViolationsOf(heap, idle) };
  } finally {
    await database.drop();
  }
}

const options = readMemoryOptions(process.argv.slice(2));
if (options === null) {
  process.stdout.write(MEMORY_USAGE);
} else {
  const result = await measure(options);
  process.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : renderMemoryReport(result));
  process.exitCode = result.violations.length > 0 ? 1 : 0;
}
