import { approversText } from '../../persistence/approver-rule.ts';
import type { Awaiting } from '../../persistence/list-awaiting.ts';
import type { HoldingControl, Waiting, WaitingKind } from '../../runtime/explain/explanation.ts';
import { escapeJson, escapeText } from './escape-text.ts';
import { formatTime, formatWhen } from './format-time.ts';
import { shorten } from './text-width.ts';

interface Telling {
  now: Date;
  columns: number;
}

type OfKind<Kind extends WaitingKind> = Extract<Waiting, { kind: Kind }>;

type Sayings = { [Kind in WaitingKind]: (waiting: OfKind<Kind>, telling: Telling) => string[] };

const SAYINGS: Sayings = {
  message: () => ['a message of its user'],
  model: ({ attempt, since }, { now }) => [`the model: attempt ${attempt}, asked since ${formatWhen(since, now)}`],
  modelRetry: ({ attempt, retryAt, error }, { now }) => [
    `the next attempt of the model call: attempt ${attempt} ${formatWhen(retryAt, now)}`,
    ...errorLine(error),
  ],
  tool: ({ toolName, attempt, deadlineAt, idempotencyKey, executionId }, { now }) => [
    `the tool ${escapeText(toolName)}: attempt ${attempt}, ${deadlineAt === null ? 'without a deadline' : `deadline ${formatTime(deadlineAt)}, ${formatWhen(deadlineAt, now)}`}`,
    `execution ${executionId}, key ${idempotencyKey}`,
  ],
  toolRetry: ({ toolName, attempt, retryAt, error, executionId }, { now }) => [
    `the next attempt of the tool ${escapeText(toolName)}: attempt ${attempt} ${retryAt === null ? 'now' : formatWhen(retryAt, now)}`,
    ...errorLine(error),
    `execution ${executionId}`,
  ],
  slot: ({ toolName, executionId }) => [`a free slot for the tool ${escapeText(toolName)}`, `execution ${executionId}`],
  child: ({ toolName, childSessionId, state }) => [
    `the child session of ${escapeText(toolName)}: ${state ?? 'it is not there'}`,
    `session ${childSessionId}`,
  ],
  approval: ({ asked }, telling) => [`approval of ${callText(asked, telling)}`, ...askedLines(asked, telling)],
  frozen: ({ asked, controls }, telling) => [
    `a person: ${callText(asked, telling)} is frozen`,
    ...controls.map(controlLine),
    ...askedLines(asked, telling),
  ],
  overBudget: ({ asked, controls }, telling) => [
    `a person: ${callText(asked, telling)} is over budget`,
    ...controls.map(controlLine),
    ...askedLines(asked, telling),
  ],
  unrunnable: ({ asked, problem }, telling) => [
    `a person: ${callText(asked, telling)} cannot run in the build that had it`,
    `${problem.code}: ${escapeText(problem.message)}`,
    ...askedLines(asked, telling),
  ],
  answer: ({ asked }, telling) => [
    `the answer of its user to ${callText(asked, telling)}`,
    ...askedLines(asked, telling),
  ],
  unknown: ({ asked, reason }, telling) => [
    `a person: nothing says how ${callText(asked, telling)} ended (attempt ${asked.attempt}, ${reason ?? 'unknown'})`,
    `key ${asked.idempotencyKey}`,
    ...asked.evidence.map(evidenceLine),
    ...askedLines(asked, telling),
  ],
  lease: ({ holder, expiresAt, heartbeatAt }, { now }) => [
    `its worker, which is silent: last sign of life ${formatWhen(heartbeatAt, now)}, its lease ends ${formatWhen(expiresAt, now)}`,
    `holder ${escapeText(holder)}`,
  ],
  worker: ({ dueAt, lastHolder }, { now }) => [
    `a worker, ${formatWhen(dueAt, now)} is since when it is owed`,
    ...(lastHolder === null ? [] : [`last held by ${escapeText(lastHolder)}`]),
  ],
  stranded: ({ by }) => [by === 'unknownAgent' ? 'a build that has its agent' : `a newer build: its ${by} is newer`],
  quarantined: ({ problem }) => ['a person: no build can read it', `${problem.code}: ${escapeText(problem.message)}`],
  failed: ({ code, error, messages }) => [
    `a person: its last run failed with ${escapeText(code)}`,
    ...errorLine(error),
    ...(messages === 0 ? [] : [`${messages} ${messages === 1 ? 'message waits' : 'messages wait'} behind it`]),
  ],
};

/** What a session waits for, in a line, and what else is to be known of it, a line each. Harmless for a terminal. */
export function sayWaiting(waiting: Waiting, telling: Telling): string[] {
  const say = SAYINGS[waiting.kind] as (waiting: Waiting, telling: Telling) => string[];
  return say(waiting, telling);
}

function callText({ toolName, params }: Awaiting, { columns }: Telling): string {
  return `${escapeText(toolName)} ${shorten(escapeJson(params), columns)}`;
}

function askedLines(
  { question, approvers, requestedAt, expiresAt, executionId }: Awaiting,
  { now }: Telling,
): string[] {
  const until = expiresAt === null ? '' : `, until ${formatTime(expiresAt)} (${formatWhen(expiresAt, now)})`;
  return [
    ...(question === null ? [] : [escapeText(question)]),
    `execution ${executionId}, asked ${formatWhen(requestedAt, now)}${until}`,
    ...(approvers === null ? [] : [`decided by ${escapeText(approversText(approvers))}`]),
  ];
}

function evidenceLine({ attempt, outcome, output, error }: Awaiting['evidence'][number]): string {
  const said = error === null ? escapeJson(output) : escapeText(error.message);
  return `attempt ${attempt} came back late: ${outcome}, ${said}`;
}

function controlLine({ kind, toolName, reason }: HoldingControl): string {
  const of = toolName === null ? 'every tool' : escapeText(toolName);
  return `${kind} of ${of}${reason === null ? '' : `: ${escapeText(reason)}`}`;
}

function errorLine(error: string | null): string[] {
  return error === null ? [] : [escapeText(error)];
}
