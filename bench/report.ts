import type { Machine } from './machine.ts';
import type { CommitLatency } from './measure-commit.ts';
import { type Compared, EARLIER_TURNS, type Growth } from './measure-growth.ts';
import type { RunCost } from './measure-run.ts';
import { SESSIONS, type Throughput } from './measure-throughput.ts';

/** Everything that was measured. */
export interface BenchResult {
  machine: Machine;
  /** Samples of each measurement. */
  runs: number;
  run: RunCost;
  growth: Growth;
  commit: CommitLatency;
  throughput: Throughput;
  /** What is not as promised, one sentence each. */
  violations: string[];
}

/** The result as a table for people: ratios first, since they outlive the machine. */
export function renderReport({ machine, runs, run, growth, commit, throughput, violations }: BenchResult): string {
  const { unitOfWork, handWritten, bareUnitOfWork, bareHandWritten } = commit;
  const perRun = run.commits.length;
  return [
    `${machine.date}, ${machine.cpu}, ${machine.cores} cores (load ${machine.load}), Node ${machine.node}, ${machine.server}`,
    `${runs} samples each`,
    '',
    `A run with one tool call: ${perRun} commits, ${run.statements} statements in ${run.roundTrips} round trips`,
    ...run.commits.map((one) => row(`  ${one.event}`, `${one.statements} statements, ${one.roundTrips} round trips`)),
    row('  reads of the history', `${run.reads}`),
    '',
    `The same run in a session with ${EARLIER_TURNS} earlier turns : in a new one`,
    compared('  statements', growth.statements),
    compared('  round trips', growth.roundTrips),
    ...(growth.walBytes ? [compared('  bytes of WAL, without images of pages', growth.walBytes)] : []),
    compared(
      `  bytes of WAL, ${growth.walBytes ? 'each run after a checkpoint' : 'as the server is set'}`,
      growth.walBytesWithPages,
    ),
    row('  time', ratio(growth.ms.many, growth.ms.none)),
    '',
    `One commit, p50 and p95 as ratios (four ways, measured in turns)`,
    row('  unit of work : SQL by hand', pair(unitOfWork, handWritten)),
    row('  the same without triggers and RLS', pair(bareUnitOfWork, bareHandWritten)),
    row('  triggers and RLS, unit of work', pair(unitOfWork, bareUnitOfWork)),
    row('  triggers and RLS, SQL by hand', pair(handWritten, bareHandWritten)),
    row('  unit of work on this machine', `${unitOfWork.p50.toFixed(1)} ms, ${unitOfWork.p95.toFixed(1)} ms`),
    '',
    'Runs per second of one process, model and tool taking no time',
    row('  1 session', throughput.one.toFixed(1)),
    row(
      `  ${SESSIONS} sessions at once`,
      `${throughput.eight.toFixed(1)}, ${throughput.ratio.toFixed(2)} times as many`,
    ),
    '',
    ...(violations.length > 0 ? violations.map((one) => `NOT AS PROMISED: ${one}`) : ['As promised.']),
    '',
  ].join('\n');
}

function row(name: string, value: string): string {
  return `${name.padEnd(46)} ${value}`;
}

function compared(name: string, { many, none }: Compared): string {
  return row(name, `${ratio(many, none)}   (${many} : ${none})`);
}

function pair(one: { p50: number; p95: number }, other: { p50: number; p95: number }): string {
  return `${ratio(one.p50, other.p50)}   ${ratio(one.p95, other.p95)}`;
}

function ratio(one: number, other: number): string {
  return (one / other).toFixed(2);
}
