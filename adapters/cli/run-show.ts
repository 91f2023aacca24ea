import { printAudit } from './audit/run-audit.ts';
import { chooseSession } from './choose-session.ts';
import { headerText, waitingText } from './header-text.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import { readSessionRecord, type SessionRecord } from './session-record.ts';
import type { SharedOptions } from './shared-options.ts';
import { showJson } from './show-json.ts';
import { timelineText } from './show-text.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What `turnlock show` takes. */
export interface ShowOptions {
  tenant?: string;
  full?: boolean;
  audit?: boolean;
}

const SOME = { columns: 160, lines: 8 };
const ALL = { columns: Infinity, lines: Infinity };

/** Does what `turnlock show` says. */
export async function runShow(session: string, options: SharedOptions & ShowOptions): Promise<void> {
  const settings = await readSettings(options, { agents: false, mustExist: true });
  const terminal = openTerminal(options);
  await withStore(settings, async (store) => {
    const key = await chooseSession(store, session, options.tenant);
    if (options.audit) return printAudit(store, key, terminal);
    print(terminal, await readSessionRecord(store, key), options);
  });
}

function print(terminal: Terminal, record: SessionRecord, options: SharedOptions & ShowOptions): void {
  terminal.json(showJson(record, options));
  if (terminal.isJson) return;
  const amount = options.full ? ALL : SOME;
  const waiting = waitingText(record, terminal.colours, options);
  const parts = [
    headerText(record, terminal.colours, amount.columns),
    timelineText(record, terminal.colours, amount),
    waiting,
  ].filter((lines) => lines.length > 0);
  terminal.line(parts.map((lines) => lines.join('\n')).join('\n\n'));
}
