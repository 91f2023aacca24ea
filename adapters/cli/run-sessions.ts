import { TurnlockError } from '../../errors.ts';
import type { SessionState } from '../../machines/session-state.ts';
import type { Build } from '../../persistence/build.ts';
import { listSessions, type SessionSummary } from '../../persistence/list-sessions.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { buildOf } from '../../runtime/services.ts';
import { readId } from './choose-session.ts';
import { escapeText } from './escape-text.ts';
import { formatTable } from './format-table.ts';
import { formatTime } from './format-time.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import { readTenants } from './read-tenants.ts';
import type { SharedOptions } from './shared-options.ts';
import { STATE_COLOURS } from './state-colour.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What `turnlock sessions` takes. */
export interface SessionsOptions {
  tenant?: string;
  state?: SessionState;
  stranded?: boolean;
  forkOf?: string;
  limit: number;
}

/** Columns of a name in a table; `--json` prints it whole. */
const NAME_WIDTH = 32;

/** Does what `turnlock sessions` says. */
export async function runSessions(options: SharedOptions & SessionsOptions): Promise<void> {
  const settings = await readSettings(options, { agents: options.stranded === true, mustExist: true });
  const { agents = [] } = settings;
  if (options.stranded === true && agents.length === 0) throw nothingToCompare();
  const build = buildOf(new Map(agents.map((agent) => [agent.name, agent])));
  print(
    openTerminal(options),
    await withStore(settings, (store) => read(store, options, build)),
    options.stranded === true,
  );
}

function nothingToCompare(): TurnlockError {
  return new TurnlockError('CONFIG_INVALID', {
    message: 'no agents are known (found none, wanted those of the build that sessions are compared with)',
    hint: 'Export `agents` from turnlock.config.ts: with --stranded, sessions are compared with their versions.',
  });
}

async function read(
  store: Store,
  { tenant, state, stranded = false, forkOf, limit }: SessionsOptions,
  build: Build,
): Promise<SessionSummary[]> {
  const origin = forkOf === undefined ? {} : { forkOf: readId(forkOf, 'session') };
  const query = { limit, stranded, build, ...origin, ...(state === undefined ? {} : { state }) };
  const found = await readTenants(store, tenant, (tenantId) => listSessions(store, { tenantId, ...query }));
  return found.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime()).slice(0, limit);
}

/** What is newer than the build: `agent 3`, or what open calls or the snapshot need. */
function newerPart({ stranded, agentVersion }: SessionSummary): string {
  return stranded === 'agent' ? `agent ${agentVersion}` : (stranded ?? '-');
}

function print(terminal: Terminal, sessions: readonly SessionSummary[], stranded: boolean): void {
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
      ...(stranded ? [{ title: 'NEWER', text: newerPart }] : []),
      { title: 'VERSION', text: ({ version }) => String(version) },
      { title: 'CHANGED', text: ({ updatedAt }) => formatTime(updatedAt) },
      { title: 'EXTERNAL ID', text: ({ externalId }) => escapeText(externalId ?? '-'), maxWidth: NAME_WIDTH },
    ],
    colours.dim,
  );
  for (const line of lines) terminal.line(line);
}
