import type { SessionSummary } from '../../persistence/list-sessions.ts';
import { escapeText } from './escape-text.ts';
import { formatTable } from './format-table.ts';
import { formatTime } from './format-time.ts';
import { STATE_COLOURS } from './state-colour.ts';
import type { Terminal } from './terminal.ts';

/** Columns of a name in a table; `--json` prints it whole. */
const NAME_WIDTH = 32;

/** What is newer than the build: `agent 3`, or what open calls or the snapshot need. */
function newerPart({ stranded, agentVersion }: SessionSummary): string {
  return stranded === 'agent' ? `agent ${agentVersion}` : (stranded ?? '-');
}

/** Prints a table of sessions, or each as a document where JSON was asked for. `stranded`: also what of them is newer than the build. */
export function printSessions(terminal: Terminal, sessions: readonly SessionSummary[], stranded: boolean): void {
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
