import type { AuditOptions } from './audit-options.ts';
import type { Machine } from './machine.ts';
import type { AuditCost, SessionCost } from './measure-audit.ts';

/** Bytes that a session ten times as long may hold more, while it is verified, replayed or exported. */
export const MAX_MORE_HELD = 16_000_000;

/** Everything that was measured. */
export interface AuditResult {
  machine: Machine;
  options: AuditOptions;
  short: SessionCost;
  long: SessionCost;
  /** What is not as promised, one sentence each. */
  violations: string[];
}

const PAGED = ['verify', 'replay', 'export'] as const;

/** What is not as promised, one sentence each. */
export function auditViolationsOf({ short, long }: Pick<AuditResult, 'short' | 'long'>): string[] {
  const found = [short, long].filter(({ findings }) => findings > 0);
  return [
    ...found.map(
      ({ transitions, findings }) => `${findings} findings in a whole session of ${transitions} transitions`,
    ),
    ...PAGED.filter((what) => long[what].held > short[what].held + MAX_MORE_HELD).map(
      (what) =>
        `${what} holds ${megabytes(long[what].held)} of a long session, ${megabytes(short[what].held)} of a short one`,
    ),
    ...(long.fork.statements === short.fork.statements
      ? []
      : [`a fork is ${long.fork.statements} statements of a long session, ${short.fork.statements} of a short one`]),
  ];
}

/** The result as a table for people. */
export function renderAuditReport({ machine, short, long, violations }: AuditResult): string {
  const { date, cpu, cores, load, node, server } = machine;
  const line = (name: string, { ms, statements, held }: AuditCost, { transitions }: SessionCost): string =>
    [
      `  ${name.padEnd(8)}`,
      `${ms.toFixed(0).padStart(6)} ms`,
      `${((ms / transitions) * 1_000).toFixed(0).padStart(5)} µs each`,
      `${String(statements).padStart(5)} statements`,
      `${megabytes(held).padStart(8)} held`,
    ].join('  ');
  const block = (cost: SessionCost) => [
    `A session with ${cost.transitions} transitions`,
    ...([...PAGED, 'fork'] as const).map((what) => line(what, cost[what], cost)),
    '',
  ];
  return [
    `${date}, ${cpu}, ${cores} cores (load ${load}), Node ${node}, ${server}`,
    '',
    ...block(short),
    ...block(long),
    ...(violations.length > 0 ? violations.map((one) => `NOT AS PROMISED: ${one}`) : ['As promised.']),
    '',
  ].join('\n');
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
