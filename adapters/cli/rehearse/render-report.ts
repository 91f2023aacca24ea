import { escapeText } from '../escape-text.ts';
import { formatDuration } from '../format-time.ts';
import type { Colours } from '../terminal.ts';
import { isInsideEnough, MIN_INSIDE_SHARE, MIN_KILLS_TO_JUDGE, type RehearsalReport } from './rehearsal-report.ts';
import { renderDifference } from './render-difference.ts';

/** How many differences of a kind are shown; `--json` has all. */
const MAX_SHOWN = 5;

/** The report as lines for people: figures, then each claim with its verdict, then the first differences. */
export function renderReport(report: RehearsalReport, colours: Colours): string[] {
  return [
    '',
    ...figures(report, colours),
    '',
    ...claims(report).map((claim) => renderClaim(claim, colours)),
    ...problems(report),
  ];
}

function figures(report: RehearsalReport, { bold }: Colours): string[] {
  const { sessions, turns, toolCalls, kills, seconds, database } = report;
  const share =
    kills.total === 0 ? '' : `, ${kills.insideTool} of them (${percent(kills.insideTool / kills.total)}) inside a tool`;
  const place = database === 'pglite' ? 'the embedded database' : 'a server';
  const rows = [
    ['conversations', `${sessions.equal} of ${sessions.recorded} as recorded, ${turns.recorded} turns`],
    ['tool calls', `${toolCalls.recorded} recorded, ${toolCalls.acts} acts, ${toolCalls.invocations} requests`],
    ['kills', `${kills.total}${share}`],
    ['time', `${formatDuration(seconds * 1_000)} on ${place}, seed ${report.seed}`],
  ];
  return rows.map(([name = '', value]) => `  ${bold(name.padEnd(15))} ${value}`);
}

interface Claim {
  holds: boolean;
  text: string;
}

function claims(report: RehearsalReport): Claim[] {
  const { sessions, kills } = report;
  return [
    { holds: report.finished && report.failures.length === 0, text: 'every conversation came to its end' },
    {
      holds: sessions.equal === sessions.recorded,
      text: 'every history in the tables is the recording, turn by turn',
    },
    {
      holds: report.actDifferences.length === 0,
      text: 'the outside world saw every act exactly as often as it was recorded',
    },
    ...(kills.total < MIN_KILLS_TO_JUDGE
      ? []
      : [
          {
            holds: isInsideEnough(kills),
            text: `at least ${percent(MIN_INSIDE_SHARE)} of the kills fell inside a tool`,
          },
        ]),
  ];
}

function renderClaim({ holds, text }: Claim, { green, red }: Colours): string {
  return holds ? `${green('✓')} ${text}` : `${red('✗')} ${text}`;
}

function problems({ failures, differences, actDifferences }: RehearsalReport): string[] {
  return [
    ...some(failures, ({ transcriptId, code, message }) => [
      `${escapeText(transcriptId)}: ${code}: ${escapeText(message)}`,
    ]),
    ...some(differences, renderDifference),
    ...some(actDifferences, ({ act, recorded, seen }) => [
      `recorded ${recorded} times, seen ${seen} times: ${escapeText(act.slice(0, 200))}`,
    ]),
  ];
}

function some<Item>(items: readonly Item[], render: (item: Item) => string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length > MAX_SHOWN ? [`… and ${items.length - MAX_SHOWN} more`] : [];
  return ['', ...items.slice(0, MAX_SHOWN).flatMap(render), ...more];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
