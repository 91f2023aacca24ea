import { type Compared, EARLIER_TURNS, type Growth } from './measure-growth.ts';
import type { RunCost } from './measure-run.ts';

/** How far a run at 1,000 earlier turns may be from one at none, as a share of the smaller one. */
const MAX_DIFFERENCE = 0.1;

/**
 * What is not as promised, one sentence each. Times are left out, they are the machine's; and so are images of pages, which fall where
 * checkpoints fall.
 */
export function violationsOf(run: RunCost, growth: Growth): string[] {
  const { statements, roundTrips, walBytes } = growth;
  const violations = [
    ...farApart('statements', statements),
    ...farApart('round trips', roundTrips),
    ...(walBytes ? farApart('bytes of WAL', walBytes) : []),
  ];
  const { length } = run.commits;
  return length === 4 ? violations : [`a run with one tool call is ${length} commits, wanted 4`, ...violations];
}

function farApart(what: string, { many, none, difference }: Compared): string[] {
  if (difference <= MAX_DIFFERENCE) return [];
  return [`a run at ${EARLIER_TURNS} earlier turns costs ${many} ${what}, one at none ${none}: more than 10 % apart`];
}
