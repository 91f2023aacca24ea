import { inspect } from 'node:util';
import { shellQuote } from '../../adapters/cli/shell-quote.ts';
import { describeMs } from '../plan/describe-command.ts';
import type { TimelineEntry } from '../play/timeline.ts';
import type { ToolPolicyFailure } from './tool-policy-report.ts';

/** What a failure is told with. */
interface ToldOf {
  call: string;
  seed: number;
  runs: number;
  /** How often the shortest plan was played, and how many of these broke the invariant. */
  plays?: number;
  breaking?: number;
}

/** A failure as text: the invariant, the commands, what happened, and the line that plays it again. */
export function failureText(
  { invariant, message, commands, timeline, replay, kept }: Omit<ToolPolicyFailure, 'text'>,
  { call, seed, runs, plays = 1, breaking = 1 }: ToldOf,
): string {
  return [
    `Broken after ${runs} ${runs === 1 ? 'run' : 'runs'}: ${invariant}`,
    `  ${message.replaceAll('\n', '\n  ')}`,
    '',
    'The shortest way to it:',
    ...commands.map((command, place) => `  ${place + 1}. ${command}`),
    '',
    ...(breaking === 0 && plays === 1 ? [UNSTEADY, ''] : []),
    ...(plays === 1
      ? []
      : [`On a server the order of statements is not the plan's: ${breaking} of ${plays} plays of it broke this.`, '']),
    ...(timeline.length === 0 ? [] : ['What happened:', ...timeline.map(timelineText), '']),
    `Seed ${seed}. To play this run alone:`,
    `  await ${call}({ ...check, replay: ${quoted(replay)} });`,
    ...(kept === null ? [] : ['', 'To look at what it left:', `  npx turnlock inspect --database ${shellQuote(kept)}`]),
  ].join('\n');
}

/** Of a run that is played as it was, and ends otherwise. */
const UNSTEADY =
  'Played once more, below, it did not break: something in the tools or the world is not of the run, such as chance, the time or what another run left.';

function timelineText({ at, process, what }: TimelineEntry): string {
  const who = process === null ? '' : `process ${process}: `;
  return `  ${`${at === 0 ? 'at once' : `+${elapsed(at)}`}`.padEnd(11)} ${who}${what}`;
}

const MINUTE_MS = 60_000;

/** How long after the begin of the run: back-offs are no whole milliseconds, and nobody reads those beside minutes. */
function elapsed(ms: number): string {
  if (ms < MINUTE_MS) return describeMs(Math.ceil(ms));
  const whole = Math.round(ms / 1_000) * 1_000;
  const rest = whole % MINUTE_MS;
  const minutes = describeMs(whole - rest);
  return rest === 0 ? minutes : `${minutes} ${describeMs(rest)}`;
}

/** A text as JavaScript has it, in single quotes where that needs fewer escapes. */
function quoted(text: string): string {
  return inspect(text, { breakLength: Number.POSITIVE_INFINITY, maxStringLength: null });
}
