import type { Machine } from './machine.ts';
import type { HeapCost, HeapGrowth } from './measure-heap.ts';
import type { IdleCost } from './measure-idle.ts';
import type { MemoryOptions } from './memory-options.ts';

/** The heap after the last run is at most this many times that after the first one measured. */
export const MAX_HEAP_RATIO = 1.2;

/** Bytes that an idle worker has resident at most. */
export const MAX_IDLE_BYTES = 150_000_000;

/** Everything that was measured. */
export interface MemoryResult {
  machine: Machine;
  options: MemoryOptions;
  heap: HeapCost;
  idle: IdleCost;
  /** What is not as promised, one sentence each. */
  violations: string[];
}

/** What is not as promised, one sentence each. */
export function memoryViolationsOf(heap: HeapCost, { started, idle }: IdleCost): string[] {
  return [
    ...grown('new sessions', heap.newSessions),
    ...grown('one session', heap.oneSession),
    ...(Math.max(started, idle) > MAX_IDLE_BYTES
      ? [`an idle worker has ${megabytes(Math.max(started, idle))} resident, at most ${megabytes(MAX_IDLE_BYTES)}`]
      : []),
  ];
}

function grown(what: string, { first, last }: HeapGrowth): string[] {
  if (last <= first * MAX_HEAP_RATIO) return [];
  return [`the heap grew from ${megabytes(first)} to ${megabytes(last)} with ${what}: more than 20 %`];
}

/** The result as a table for people. */
export function renderMemoryReport({ machine, options, heap, idle, violations }: MemoryResult): string {
  const { date, cpu, cores, load, node, server } = machine;
  const { first, last, idleSeconds } = options;
  const row = (name: string, value: string) => `${name.padEnd(30)} ${value}`;
  const growth = (name: string, one: HeapGrowth) => {
    const perRun = Math.round((one.last - one.first) / (last - first));
    return row(
      name,
      `${(one.last / one.first).toFixed(3)}   (${megabytes(one.last)} : ${megabytes(one.first)}, ${perRun} bytes a run)`,
    );
  };
  return [
    `${date}, ${cpu}, ${cores} cores (load ${load}), Node ${node}, ${server}`,
    '',
    `Heap in use after ${last} runs with one tool call : after ${first}`,
    growth('  each in a new session', heap.newSessions),
    growth('  all in one session', heap.oneSession),
    '',
    'Resident set of an idle worker with the built package',
    row('  once started', megabytes(idle.started)),
    row(`  after ${idleSeconds} s`, megabytes(idle.idle)),
    '',
    ...(violations.length > 0 ? violations.map((one) => `NOT AS PROMISED: ${one}`) : ['As promised.']),
    '',
  ].join('\n');
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
