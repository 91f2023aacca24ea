import { presentParams } from '../../persistence/present-params.ts';
import { isWithChild } from '../../persistence/row-changes.ts';
import { escapeJson, escapeText } from './escape-text.ts';
import { formatDuration, formatTime } from './format-time.ts';
import type { SessionRecord } from './session-record.ts';
import { recoverCommandText, settleCommands } from './settle-commands.ts';
import type { SharedOptions } from './shared-options.ts';
import { STATE_COLOURS } from './state-colour.ts';
import type { Colours } from './terminal.ts';
import { shorten } from './text-width.ts';

/** What a session is and since when, for people. */
export function headerText({ overview }: SessionRecord, colours: Colours, columns: number): string[] {
  const { sessionId, state, since, now, problem } = overview;
  const standing = `${colours[STATE_COLOURS[state]](state)} for ${formatDuration(now.getTime() - since.getTime())}`;
  const facts: [string, string][] = [
    ['tenant', escapeText(overview.tenantId)],
    ['user', escapeText(overview.userId)],
    ['external id', escapeText(overview.externalId ?? '-')],
    ['agent', `${escapeText(overview.agent)} version ${overview.agentVersion}, model ${escapeText(overview.modelId)}`],
    ...parentFact(overview),
    ...forkFacts(overview),
    ['since', formatTime(since)],
    ['version', `${overview.version}, token ${overview.token}, recoveries ${overview.recoveries}`],
    ['lease', leaseText(overview)],
    ['next wake', overview.wakeAt === null ? '-' : formatTime(overview.wakeAt)],
    ['created', formatTime(overview.createdAt)],
    ['metadata', shorten(escapeJson(overview.metadata), columns)],
  ];
  const lines = facts.map(([name, value]) => `  ${colours.dim(name.padEnd(11))}  ${value}`);
  const trouble = problem === null ? [] : [`  ${colours.red(problem.code)}: ${escapeText(problem.message)}`];
  return [`${colours.bold(`session ${sessionId}`)}  ${standing}`, ...lines, ...trouble];
}

function parentFact({ parent }: SessionRecord['overview']): [string, string][] {
  return parent === null ? [] : [['parent', `session ${parent.sessionId}, execution ${parent.executionId}`]];
}

/** Where it was copied from, and what was copied from it. */
function forkFacts({ forkedFrom, forks }: SessionRecord['overview']): [string, string][] {
  const origin = forkedFrom && `session ${forkedFrom.sessionId ?? '(deleted)'}, up to turn ${forkedFrom.turnIndex}`;
  const own = forks.map(({ sessionId, turnIndex }): [string, string] => [
    'forked as',
    `session ${sessionId}, up to turn ${turnIndex}`,
  ]);
  return [...(origin === null ? [] : [['fork of', origin] as [string, string]]), ...own];
}

function leaseText({ leaseHolder, leaseExpiresAt, now }: SessionRecord['overview']): string {
  if (leaseHolder === null || leaseExpiresAt === null) return 'none';
  const ms = leaseExpiresAt.getTime() - now.getTime();
  return `${leaseHolder}, ${ms > 0 ? `for another ${formatDuration(ms)}` : `expired ${formatDuration(-ms)} ago`}`;
}

/** What the session waits for and what unblocks it; nothing when it waits for nothing but a message. */
export function waitingText(record: SessionRecord, colours: Colours, given: SharedOptions): string[] {
  const { state, waiting, leaseExpiresAt, now } = record.overview;
  switch (state) {
    case 'PLANNING':
    case 'EXECUTING_TOOL':
      if (leaseExpiresAt !== null && leaseExpiresAt > now) return ['A worker is at it.'];
      return isAsleep(record)
        ? ['It waits for its child sessions, and goes on when one of them ends.']
        : [colours.yellow('It owes work and no worker holds it.'), `  ${recoverCommandText(given)}`];
    case 'FAILED':
      return ['It waits for session.retry() or session.complete().'];
    case 'AWAITING_INPUT':
      return waiting.flatMap((call) => callText(record, call, colours, given));
    default:
      return [];
  }
}

/** Nobody holds it and its children are at work: it is not to be recovered before its wake. */
function isAsleep({ overview, executions }: SessionRecord): boolean {
  const { leaseHolder, wakeAt, now } = overview;
  return leaseHolder === null && wakeAt !== null && wakeAt > now && executions.some(isWithChild);
}

const REASONS = {
  unknown: 'was started, and nothing says how it ended. Ask its receiver, by its key, what happened. Then run one of:',
  approval: 'waits for a decision:',
  answer: 'waits for an answer of the user. It can be settled by hand:',
};

function callText(
  { overview, executions }: SessionRecord,
  { executionId, reason }: SessionRecord['overview']['waiting'][number],
  { yellow, bold }: Colours,
  given: SharedOptions,
): string[] {
  const execution = executions.find((row) => row.executionId === executionId);
  const digest = execution === undefined ? '' : presentParams(execution).digest;
  const commands = settleCommands({ ...overview, executionId, reason, digest }, given);
  return [
    `${yellow('Waits for a person:')} ${bold(escapeText(execution?.toolName ?? executionId))} ${REASONS[reason]}`,
    ...(execution === undefined ? [] : [`  key ${execution.idempotencyKey}`]),
    ...commands.map((command) => `  ${command}`),
  ];
}
