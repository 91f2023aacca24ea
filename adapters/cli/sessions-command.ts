import { Command, InvalidArgumentError, Option } from 'commander';
import { TurnlockError } from '../../errors.ts';
import { SESSION_STATES, type SessionState } from '../../machines/session-state.ts';
import { listSessions, type SessionSummary } from '../../persistence/list-sessions.ts';
import { listTenants } from '../../persistence/list-tenants.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { checkTenant } from './choose-session.ts';
import { escapeText } from './escape-text.ts';
import { formatTable } from './format-table.ts';
import { formatTime } from './format-time.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import { optionsOf } from './shared-options.ts';
import { STATE_COLOURS } from './state-colour.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface SessionsOptions {
  tenant?: string;
  state?: SessionState;
  limit: number;
}

const MAX_LIMIT = 10_000;

/** Columns of a name in a table; `--json` prints it whole. */
const NAME_WIDTH = 32;

const EXAMPLES = `
Examples:
  $ turnlock sessions --tenant acme
  $ turnlock sessions --tenant acme --state AWAITING_INPUT --limit 10
  $ turnlock sessions --database .turnlock --json | jq -r .sessionId
`;

/** `turnlock sessions`. */
export function sessionsCommand(): Command {
  return new Command('sessions')
    .description('list sessions, last changed first')
    .option('--tenant <tenant>', 'whose; may be left out on an embedded database, for all')
    .addOption(new Option('--state <state>', 'only those in this state').choices(SESSION_STATES).argParser(parseState))
    .option('--limit <number>', `how many at the most, up to ${MAX_LIMIT}`, parseLimit, 50)
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const options = optionsOf<SessionsOptions>(command);
      const terminal = openTerminal(options);
      const settings = await readSettings(options, { agents: false, mustExist: true });
      print(terminal, await withStore(settings, (store) => read(store, options)));
    });
}

async function read(store: Store, { tenant, state, limit }: SessionsOptions): Promise<SessionSummary[]> {
  const query = state === undefined ? { limit } : { state, limit };
  if (tenant !== undefined) return listSessions(store, { tenantId: checkTenant(tenant), ...query });
  if (store.database.kind !== 'pglite') {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: 'tenant is missing (wanted --tenant on a server)',
      hint: 'Pass --tenant: only an embedded database lists the sessions of all.',
    });
  }
  const found: SessionSummary[] = [];
  for (const tenantId of (await listTenants(store)).keys()) {
    found.push(...(await listSessions(store, { tenantId, ...query })));
  }
  return found.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime()).slice(0, limit);
}

function print(terminal: Terminal, sessions: readonly SessionSummary[]): void {
  for (const session of sessions) terminal.json(session);
  if (sessions.length === 0) terminal.note('No sessions.');
  if (terminal.isJson || sessions.length === 0) return;
  const { colours } = terminal;
  const lines = formatTable(
    sessions,
    [
      { title: 'SESSION', text: (session) => session.sessionId },
      { title: 'STATE', text: ({ state }) => state, style: (text, { state }) => colours[STATE_COLOURS[state]](text) },
      { title: 'TENANT', text: ({ tenantId }) => escapeText(tenantId), maxWidth: NAME_WIDTH },
      { title: 'USER', text: ({ userId }) => escapeText(userId), maxWidth: NAME_WIDTH },
      { title: 'AGENT', text: ({ agent }) => escapeText(agent), maxWidth: NAME_WIDTH },
      { title: 'VERSION', text: ({ version }) => String(version) },
      { title: 'CHANGED', text: ({ updatedAt }) => formatTime(updatedAt) },
      { title: 'EXTERNAL ID', text: ({ externalId }) => escapeText(externalId ?? '-'), maxWidth: NAME_WIDTH },
    ],
    colours.dim,
  );
  for (const line of lines) terminal.line(line);
}

function parseState(text: string): SessionState {
  const state = text.toUpperCase() as SessionState;
  if (SESSION_STATES.includes(state)) return state;
  throw new InvalidArgumentError(`Allowed choices are ${SESSION_STATES.join(', ')}.`);
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new InvalidArgumentError(`Wanted a whole number from 1 to ${MAX_LIMIT}.`);
}
