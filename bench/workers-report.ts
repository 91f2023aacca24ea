import type { Machine } from './machine.ts';
import { type Claims, type LookCost, WANTED } from './measure-claims.ts';
import type { Takeover } from './measure-takeover.ts';
import type { WorkerRate } from './measure-workers.ts';
import type { WorkersOptions } from './workers-options.ts';

/** Everything that was measured. */
export interface WorkersResult {
  machine: Machine;
  options: WorkersOptions;
  rates: WorkerRate[];
  takeovers: Takeover[];
  claims: Claims;
  /** What is not as promised, one sentence each. */
  violations: string[];
}

/** How many rows more than it finds a look may read: one that is no longer due, or not yet. */
const SLACK = 10;

/** What is not as promised, one sentence each. Times are left out, they are the machine's. */
export function workersViolationsOf({ idle, busy, found, sleepers }: Claims): string[] {
  return [
    ...(found === WANTED ? [] : [`a look for ${WANTED} sessions found ${found} of as many that are due`]),
    ...reads(`a look that finds nothing beside ${sleepers} sleeping sessions`, idle.with, SLACK),
    ...reads(`a look that finds ${WANTED} beside ${sleepers} sleeping sessions`, busy.with, 4 * WANTED + SLACK),
  ];
}

function reads(what: string, { scanned, fetched }: LookCost, most: number): string[] {
  if (scanned === 0 && fetched <= most) return [];
  return [`${what} walks through ${scanned} rows and fetches ${fetched}, at most 0 and ${most}`];
}

/** The result as a table for people. */
export function renderWorkersReport({ machine, rates, takeovers, claims, violations }: WorkersResult): string {
  const { date, cpu, cores, load, node, server } = machine;
  const { idle, busy, sleepers } = claims;
  return [
    `${date}, ${cpu}, ${cores} cores (load ${load}), Node ${node}, ${server}`,
    '',
    'Runs with one tool call per second, model and tool taking no time',
    ...rates.map(({ processes, sessions, perSecond }) =>
      row(`  ${processes} at work, ${sessions} with work at once`, perSecond.toFixed(1)),
    ),
    '',
    'From SIGKILL of a worker inside a tool to the takeover, in leases',
    ...takeovers.map(({ leaseMs, deaths, median, longest }) =>
      row(
        `  a lease of ${leaseMs / 1_000} s, ${deaths} deaths`,
        `median ${median.toFixed(2)}, longest ${longest.toFixed(2)}`,
      ),
    ),
    '',
    `One look for ${WANTED} sessions beside ${sleepers} that sleep : beside none`,
    ...looks('that finds nothing', idle),
    ...looks('that finds them', busy),
    '',
    ...(violations.length > 0 ? violations.map((one) => `NOT AS PROMISED: ${one}`) : ['As promised.']),
    '',
  ].join('\n');
}

function looks(what: string, { with: many, without: none }: Claims['idle']): string[] {
  const compared = (one: number, other: number) => `${one} : ${other}`;
  return [
    row(
      `  ${what}, per second`,
      `${(many.perSecond / none.perSecond).toFixed(2)}   (${compared(Math.round(many.perSecond), Math.round(none.perSecond))})`,
    ),
    row('    rows read by walking, by an index', `${many.scanned}, ${compared(many.fetched, none.fetched)}`),
    row('    pages touched', compared(many.pages, none.pages)),
  ];
}

function row(name: string, value: string): string {
  return `${name.padEnd(46)} ${value}`;
}
