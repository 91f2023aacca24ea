import type { Replay } from '../../../persistence/audit/verify-session.ts';
import { escapeJson, escapeLines, escapeText } from '../escape-text.ts';
import { formatClock, formatDuration, formatTime } from '../format-time.ts';
import type { SessionRecord } from '../session-record.ts';
import { STATE_COLOURS } from '../state-colour.ts';
import type { Colours } from '../terminal.ts';
import { widthOf } from '../text-width.ts';
import { wrapText } from '../wrap-text.ts';
import type { Speaker, StoryEntry } from './story.ts';

/** How much is shown. */
export interface StoryAmount {
  /** Columns of the terminal. */
  columns: number;
  /** Lines of one text or value. */
  lines: number;
}

/** Columns before what happened: the time of day and a gap. */
const MARGIN = 14;

/** The session in a few words, before its story. */
export function titleText({ overview, transitions }: SessionRecord, colours: Colours): string[] {
  const { sessionId, tenantId, userId, agent, agentVersion, state } = overview;
  const [first, last] = [transitions[0]?.createdAt, transitions.at(-1)?.createdAt];
  const lasted = first && last ? `, over ${tookText(last.getTime() - first.getTime())}` : '';
  return [
    `${colours.bold(`session ${sessionId}`)}  ${colours[STATE_COLOURS[state]](state)}`,
    `  tenant ${escapeText(tenantId)}, user ${escapeText(userId)}`,
    `  agent ${escapeText(agent)} version ${agentVersion}, ${transitions.length} transitions${lasted}`,
  ];
}

/** The story for people: a block a run, a line for each thing that happened, and below it what was said, asked for and answered. */
export function storyText(entries: readonly StoryEntry[], colours: Colours, amount: StoryAmount): string[] {
  const lines: string[] = [];
  let run: string | null | undefined;
  let count = 0;
  for (const entry of entries) {
    if (entry.runId !== run) {
      run = entry.runId;
      if (run !== null) count += 1;
      const name = run === null ? 'before the first run' : `run ${count}`;
      lines.push(
        '',
        `${colours.bold(name)}  ${colours.dim(formatTime(entry.at))}${run === null ? '' : colours.dim(`  ${run}`)}`,
      );
    }
    lines.push(...entryText(entry, colours, amount));
  }
  return lines;
}

const COLOURS: Readonly<Record<Speaker, 'cyan' | 'green' | 'yellow' | 'dim' | 'bold'>> = {
  user: 'bold',
  agent: 'cyan',
  tool: 'green',
  person: 'yellow',
  worker: 'dim',
  session: 'dim',
};

function entryText(entry: StoryEntry, colours: Colours, amount: StoryAmount): string[] {
  const { speaker, who, did, said } = entry;
  const width = Math.max(20, amount.columns - MARGIN);
  const name = colours[COLOURS[speaker]](escapeText(who));
  const subject = speaker === 'tool' ? `${isBegin(entry) ? '→' : '←'} ${name}` : name;
  const waited = speaker === 'person' || speaker === 'user' ? 'after ' : '';
  const after = did === null || entry.tookMs === null ? '' : colours.dim(` (${waited}${tookText(entry.tookMs)})`);
  const lines = said === null || said === '' ? [] : escapeLines(said);
  const [only = ''] = lines;
  const isShort = did === null && lines.length === 1 && widthOf(escapeText(who)) + widthOf(only) + 2 <= width;
  const head = did === null ? `${subject}:${isShort ? ` ${only}` : ''}` : `${subject} ${escapeText(did)}${after}`;
  const details = [
    ...(isShort ? [] : cut(lines, width - 2, amount)),
    ...valueText(entry, width - 2, amount, colours),
    ...modelText(entry, colours),
  ];
  const margin = ' '.repeat(MARGIN + 2);
  return [`${colours.dim(formatClock(entry.at))}  ${head}`, ...details.map((line) => margin + line)];
}

function isBegin({ did }: StoryEntry): boolean {
  return did?.startsWith('is called') === true || did?.startsWith('starts') === true;
}

function valueText(entry: StoryEntry, width: number, amount: StoryAmount, { red }: Colours): string[] {
  const { params, output, error } = entry;
  return [
    ...(params === undefined ? [] : cut([escapeJson(params)], width, amount)),
    ...(output === undefined
      ? []
      : cut(typeof output === 'string' ? escapeLines(output) : [escapeJson(output)], width, amount)),
    ...(error === null ? [] : cut(escapeLines(error), width, amount).map((line) => red(line))),
  ];
}

function modelText({ model, tookMs, did }: StoryEntry, { dim }: Colours): string[] {
  if (model === null) return [];
  const { inputTokens, outputTokens, totalTokens } = model.usage;
  const tokens =
    inputTokens === undefined && outputTokens === undefined
      ? totalTokens === undefined
        ? []
        : [`${totalTokens} tokens`]
      : [`${inputTokens ?? '?'} tokens in, ${outputTokens ?? '?'} out`];
  const took = did === null && tookMs !== null ? [tookText(tookMs)] : [];
  const attempt = model.attempt > 1 ? [`attempt ${model.attempt}`] : [];
  return [dim([escapeText(model.modelId), ...attempt, ...took, ...tokens].join(', '))];
}

function cut(lines: readonly string[], width: number, { lines: max }: StoryAmount): string[] {
  const wrapped = lines.flatMap((line) => wrapText(line, width));
  if (wrapped.length <= max) return wrapped;
  return [...wrapped.slice(0, max), `… and ${wrapped.length - max} more (--full shows all)`];
}

/** A length of time as it is read in a story: `380 ms`, `1.2 s`, `2 min 5 s`. */
function tookText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : formatDuration(ms);
}

/** What it came to, and whether the recorded events lead to what is stored. */
export function endText(entries: readonly StoryEntry[], replay: Replay, { red, green, yellow }: Colours): string[] {
  const { findings, folded, skipped, loss, transitions } = replay;
  const told = findings.map(({ code, sequence, found, wanted }) => {
    const place = sequence === null ? 'the session' : `#${sequence}`;
    return red(`${code} at ${place}: found ${escapeText(found)}, wanted ${escapeText(wanted)}`);
  });
  if (told.length > 0) return [sumText(entries), ...told];
  if (skipped === 0) return [sumText(entries), green(`Replayed: all ${folded} transitions lead to what is stored.`)];
  const why = loss === null ? 'they were erased, or their machine is gone' : LOSSES[loss];
  return [
    sumText(entries),
    yellow(`Replayed: ${folded} of ${transitions} transitions; of the rest nobody can tell: ${why}.`),
  ];
}

const LOSSES = {
  erased: 'payloads were erased',
  machineGone: 'this build does not have the machine of that version',
  machineNewer: 'the machine of that version is newer than this build',
  illegal: 'an event did not fit',
};

function sumText(entries: readonly StoryEntry[]): string {
  const runs = new Set(entries.flatMap(({ runId }) => runId ?? [])).size;
  const calls = new Set(entries.flatMap(({ executionId }) => executionId ?? [])).size;
  const answers = entries.flatMap(({ model }) => model ?? []);
  const tokens = answers.reduce(
    (sum, { usage }) => sum + (usage.totalTokens ?? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)),
    0,
  );
  const counted = (count: number, name: string) => `${count} ${name}${count === 1 ? '' : 's'}`;
  return [
    counted(runs, 'run'),
    counted(answers.length, 'model call'),
    counted(tokens, 'token'),
    counted(calls, 'tool call'),
  ].join(', ');
}
