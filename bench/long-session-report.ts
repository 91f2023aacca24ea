import type { LongSessionOptions } from './long-session-options.ts';
import type { Machine } from './machine.ts';
import type { LongSessionCost, SessionCost, Tenth } from './measure-long-session.ts';

/** A run of the last tenth takes at most this many times the statements of one of the first. */
export const MAX_GROWTH = 1.3;

/** Everything that was measured. */
export interface LongSessionResult {
  machine: Machine;
  options: LongSessionOptions;
  cost: LongSessionCost;
  /** What is not as promised, one sentence each. */
  violations: string[];
}

/** What is not as promised, one sentence each. */
export function longSessionViolationsOf({ budget, whole }: LongSessionCost, maxTokens: number): string[] {
  const most = Math.max(...budget.tenths.map(({ tokens }) => tokens));
  const grown = growth(budget, 'statements');
  return [
    ...(most > maxTokens ? [`a model was given ${most} tokens, with a budget of ${maxTokens}`] : []),
    ...(budget.invalid + whole.invalid > 0 ? [`${budget.invalid + whole.invalid} histories were not valid`] : []),
    ...(budget.summaries === 0 ? ['nothing was summarised'] : []),
    ...(grown > MAX_GROWTH ? [`a run takes ${grown.toFixed(2)} times the statements in the last tenth`] : []),
  ];
}

function growth({ tenths }: SessionCost, what: keyof Tenth): number {
  return ((tenths.at(-1) as Tenth)[what] ?? Number.NaN) / (tenths[0] as Tenth)[what];
}

/** The result as a table for people. */
export function renderLongSession({ machine, options, cost, violations }: LongSessionResult): string {
  const { date, cpu, cores, load, node, server } = machine;
  const row = (name: string, of: (session: SessionCost) => string) =>
    `${name.padEnd(44)} ${of(cost.budget).padEnd(22)} ${of(cost.whole)}`;
  const pair = (what: keyof Tenth, digits: number) => (session: SessionCost) => {
    const [first, last] = [session.tenths[0], session.tenths.at(-1)] as [Tenth, Tenth];
    return `${growth(session, what).toFixed(2)}  (${last[what].toFixed(digits)} : ${first[what].toFixed(digits)})`;
  };
  return [
    `${date}, ${cpu}, ${cores} cores (load ${load}), Node ${node}, ${server}`,
    '',
    `${options.turns} turns; a run of the last tenth : of the first, summaries among them`,
    row('', ({ tenths }) => (tenths === cost.budget.tenths ? `budget ${options.maxTokens}` : 'whole history')),
    row('  milliseconds', pair('ms', 1)),
    row('  statements', pair('statements', 1)),
    row('  round trips', pair('roundTrips', 1)),
    row('  tokens that a model was given at most', pair('tokens', 0)),
    row('  turns that a model was given at most', pair('turns', 0)),
    row('summaries', ({ summaries }) => String(summaries)),
    '',
    ...(violations.length > 0 ? violations.map((one) => `NOT AS PROMISED: ${one}`) : ['As promised.']),
    '',
  ].join('\n');
}
