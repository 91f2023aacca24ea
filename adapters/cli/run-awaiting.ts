import { approversText } from '../../persistence/approver-rule.ts';
import { type Awaiting, type AwaitingQuery, listAwaiting } from '../../persistence/list-awaiting.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { readId } from './choose-session.ts';
import { escapeJson, escapeText } from './escape-text.ts';
import { formatTime } from './format-time.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import { readTenants } from './read-tenants.ts';
import { settleCommands } from './settle-commands.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What `turnlock awaiting` takes. */
export interface RunAwaitingOptions {
  tenant?: string;
  user?: string;
  session?: string;
  reason?: Awaiting['reason'];
  limit: number;
}

/** Does what `turnlock awaiting` says. */
export async function runAwaiting(options: SharedOptions & RunAwaitingOptions): Promise<void> {
  const settings = await readSettings(options, { agents: false, mustExist: true });
  const terminal = openTerminal(options);
  const found = await withStore(settings, (store) => read(store, options));
  for (const awaiting of found) {
    const commands = settleCommands(awaiting, options);
    terminal.json({ ...awaiting, commands });
    if (!terminal.isJson) print(terminal, awaiting, commands);
  }
  if (found.length === 0) terminal.note('Nobody is asked anything.');
}

async function read(store: Store, options: RunAwaitingOptions): Promise<Awaiting[]> {
  const { tenant, user, session, reason, limit } = options;
  const query: Omit<AwaitingQuery, 'tenantId'> = {
    limit,
    ...(user === undefined ? {} : { userId: user }),
    ...(session === undefined ? {} : { sessionId: readId(session, 'session') }),
    ...(reason === undefined ? {} : { reason }),
  };
  const found = await readTenants(store, tenant, (tenantId) => listAwaiting(store, { tenantId, ...query }));
  return found.sort((a, b) => a.requestedAt.getTime() - b.requestedAt.getTime()).slice(0, limit);
}

const WHAT: Record<Awaiting['reason'], string> = {
  approval: 'may it run?',
  answer: 'the agent asks its user',
  unknown: 'it was started, and nothing says how it ended',
};

function print({ line, colours }: Terminal, awaiting: Awaiting, commands: string[]): void {
  const { toolName, params, reason, question, tenantId, sessionId, userId, requestedAt, expiresAt, evidence } =
    awaiting;
  const { approvers } = awaiting;
  const { bold, dim, yellow } = colours;
  line(`${yellow('?')} ${bold(escapeText(toolName))} ${escapeJson(params)}: ${WHAT[reason]}`);
  if (question !== null) line(`  ${escapeText(question)}`);
  for (const { attempt, outcome, output, error } of evidence) {
    const said = error === null ? escapeJson(output) : escapeText(error.message);
    line(`  attempt ${attempt} came back late: ${outcome}, ${said}`);
  }
  const until = expiresAt === null ? '' : `, until ${formatTime(expiresAt)}`;
  line(dim(`  session ${sessionId} of ${escapeText(userId)}, tenant ${escapeText(tenantId)}`));
  line(dim(`  asked ${formatTime(requestedAt)}${until}`));
  if (approvers !== null) line(`  decided by ${escapeText(approversText(approvers))}`);
  for (const command of commands) line(`  ${command}`);
}
