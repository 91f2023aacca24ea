import { childSessionId } from '../../persistence/keys/child-ids.ts';
import type { StoredTransition } from '../../persistence/read-transitions.ts';
import { type ExecutionRow, hasChild } from '../../persistence/row-changes.ts';
import { describeEvent } from './describe-event.ts';
import { escapeJson, escapeLines, escapeText } from './escape-text.ts';
import { formatClock, formatTime } from './format-time.ts';
import type { SessionRecord } from './session-record.ts';
import { STATE_COLOURS } from './state-colour.ts';
import type { Colours } from './terminal.ts';
import { shorten, widthOf } from './text-width.ts';
import { buildTimeline, type TimelineTurn } from './timeline.ts';

/** How much of what is long is shown. */
export interface Amount {
  /** Columns of one line. */
  columns: number;
  /** Lines of one turn. */
  lines: number;
}

/** The timeline of a session for people: each transition, what it wrote, and how the calls stand now. */
export function timelineText(record: SessionRecord, colours: Colours, amount: Amount): string[] {
  const width = String(record.overview.version).length;
  return buildTimeline(record).flatMap(({ transition, turns }) => [
    transition === null
      ? colours.dim('turns without a transition')
      : transitionText(transition, record, colours, width),
    ...turns.flatMap((turn) => turnText(turn, record, colours, amount)).map((line) => ' '.repeat(width + 3) + line),
  ]);
}

function transitionText(
  { sequence, createdAt, type, from, to, cause, token, event }: StoredTransition,
  { executions }: SessionRecord,
  { bold, dim, ...colours }: Colours,
  width: number,
): string {
  const state = { ...colours, bold, dim }[STATE_COLOURS[to]](to);
  const details = describeEvent(event, executions);
  const head = `#${String(sequence).padEnd(width)} ${dim(formatClock(createdAt))}  ${bold(type)}  ${from} → ${state}`;
  return `${head}  ${dim(`cause ${cause}, token ${token}`)}${details === '' ? '' : `  ${details}`}`;
}

function turnText(
  { turn, executions }: TimelineTurn,
  record: SessionRecord,
  colours: Colours,
  amount: Amount,
): string[] {
  const tool = record.executions.find(({ executionId }) => executionId === turn.executionId);
  const who = tool === undefined ? turn.role : `${turn.role} ${escapeText(tool.toolName)}`;
  const [first = '', ...further] = cutLines(turn.content, amount, colours);
  const head = `${colours.dim(`turn ${turn.turnIndex}`)} ${colours.cyan(who)}: ${first}`;
  return [
    head,
    ...further.map((line) => `  ${line}`),
    ...executions.flatMap((execution) => executionText(execution, record, colours, amount)),
  ];
}

function executionText(
  execution: ExecutionRow,
  { overview }: SessionRecord,
  colours: Colours,
  amount: Amount,
): string[] {
  const { toolName, inputParameters, rawInput, status, attempt, effect, idempotencyKey, executionId } = execution;
  const { toolVersion, upgradedVersion, upgradedParameters } = execution;
  const { dim } = colours;
  const params = rawInput === null ? escapeJson(inputParameters) : escapeText(rawInput);
  const version = toolVersion > 1 ? `, version ${toolVersion}` : '';
  const known = `${colours[STATE_COLOURS[status]](status)}, attempt ${attempt}, ${effect}${version}`;
  return [
    `  call ${colours.bold(escapeText(toolName))} ${shorten(params, amount.columns)}`,
    ...(upgradedVersion === null
      ? []
      : [`    as version ${upgradedVersion} ${shorten(escapeJson(upgradedParameters), amount.columns)}`]),
    `    ${known}${standing(execution, overview.now, colours)}`,
    dim(`    execution ${executionId}`),
    ...copiedFrom(execution).map((id) => dim(`    copied from execution ${id}`)),
    ...(hasChild(execution) ? [dim(`    child session ${childSessionId(executionId)}`)] : []),
    dim(`    key ${idempotencyKey}`),
  ];
}

/** Of a call of a fork's origin: the execution that it was there. */
function copiedFrom({ metadata }: ExecutionRow): string[] {
  return metadata.copiedFrom === undefined ? [] : [escapeText(String(metadata.copiedFrom))];
}

function standing(
  { unknownAt, unknownReason, settledBy, status, errorMessage, deadlineAt }: ExecutionRow,
  now: Date,
  { yellow }: Colours,
): string {
  const parts: string[] = [];
  if (unknownAt !== null) parts.push(yellow(`outcome unknown (${unknownReason}) since ${formatTime(unknownAt)}`));
  else if (status === 'RUNNING' && deadlineAt !== null) {
    parts.push(`deadline ${formatTime(deadlineAt)}${deadlineAt < now ? ' (past)' : ''}`);
  }
  if (settledBy !== null) parts.push(`settled by ${escapeText(settledBy)}`);
  if (errorMessage !== null) parts.push(shorten(escapeText(errorMessage), 200));
  return parts.map((part) => `, ${part}`).join('');
}

function cutLines(content: string, { lines, columns }: Amount, { dim }: Colours): string[] {
  const all = escapeLines(content);
  const shown = all.slice(0, lines).map((line) => shorten(line, columns));
  const isCut = all.length > lines || all.slice(0, lines).some((line) => widthOf(line) > columns);
  return isCut ? [...shown, dim('… (--full shows all)')] : shown;
}
