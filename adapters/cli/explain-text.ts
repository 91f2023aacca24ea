import type { Explanation, Waiting } from '../../runtime/explain/explanation.ts';
import { escapeText } from './escape-text.ts';
import { formatAge, formatDuration, formatTime, formatWhen } from './format-time.ts';
import { commandText, type Place } from './settle-commands.ts';
import { STATE_COLOURS } from './state-colour.ts';
import type { Terminal } from './terminal.ts';
import { sayWaiting } from './waiting-text.ts';

type Screen = Pick<Terminal, 'colours' | 'columns'>;

/** An explanation for people, in one screen: how the session stands, what it waits for, and the commands that unblock it. */
export function explainText(explanation: Explanation, screen: Screen, given: Place): string[] {
  const { waitsFor, now } = explanation;
  const waits = waitsFor.flatMap((waiting) => ['', ...waitingLines(waiting, now, screen, given, '')]);
  const nothing = waitsFor.length > 0 ? [] : ['', 'It waits for nothing: it is over.'];
  return [...headLines(explanation, screen), ...waits, ...nothing];
}

function headLines(explanation: Explanation, { colours }: Screen): string[] {
  const { sessionId, tenantId, userId, externalId, agent, agentVersion, state, since, now, version, runId } =
    explanation;
  const { parent, wakeAt, recoveries, inbox } = explanation;
  const standing = `${colours[STATE_COLOURS[state]](state)} for ${formatAge(since, now)}`;
  const facts: [string, string][] = [
    ['tenant', escapeText(tenantId)],
    ['user', escapeText(userId) + (externalId === null ? '' : `, external id ${escapeText(externalId)}`)],
    ['agent', `${escapeText(agent)} version ${agentVersion}`],
    ['run', runId ?? 'none yet'],
    ...(parent === null ? [] : [['parent', `session ${parent.sessionId}`] as [string, string]]),
    ['since', `${formatTime(since)}, version ${version}`],
    ['lease', leaseText(explanation)],
    ['next wake', wakeAt === null ? 'none' : `${formatTime(wakeAt)}, ${formatWhen(wakeAt, now)}`],
    ['recoveries', `${recoveries.used} of ${recoveries.bound}`],
    ['inbox', inboxText(inbox, now)],
  ];
  return [
    `${colours.bold(`session ${sessionId}`)}  ${standing}`,
    ...facts.map(([name, value]) => `  ${colours.dim(name.padEnd(10))}  ${value}`),
  ];
}

function leaseText({ lease, now }: Explanation): string {
  if (lease === null) return 'nobody holds it';
  const { holder, expiresAt, heartbeatAt, isLive } = lease;
  const end = isLive
    ? `for another ${formatDuration(expiresAt.getTime() - now.getTime())}`
    : `over ${formatWhen(expiresAt, now)}`;
  return `${escapeText(holder)}, last sign of life ${formatWhen(heartbeatAt, now)}, ${end}`;
}

function inboxText({ waiting, since }: Explanation['inbox'], now: Date): string {
  if (since === null) return 'empty';
  return `${waiting} ${waiting === 1 ? 'message waits' : 'messages wait, the oldest'} for ${formatAge(since, now)}`;
}

function waitingLines(waiting: Waiting, now: Date, screen: Screen, given: Place, indent: string): string[] {
  const { colours, columns } = screen;
  const [what, ...more] = sayWaiting(waiting, { now, columns });
  const lines = [
    `${colours.yellow('waits for')} ${what}`,
    ...more.map((line) => `  ${line}`),
    `  ${colours.dim(waiting.unblockedBy)}`,
    ...waiting.commands.map((words) => `  ${commandText(words, given)}`),
  ].map((line) => indent + line);
  const below = waiting.kind === 'child' ? waiting.waitsFor : [];
  return [...lines, ...below.flatMap((inner) => waitingLines(inner, now, screen, given, `${indent}    `))];
}
