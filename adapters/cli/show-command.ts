import { Command } from 'commander';
import { chooseSession } from './choose-session.ts';
import { headerText, waitingText } from './header-text.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import { readSessionRecord, type SessionRecord } from './session-record.ts';
import { optionsOf, type SharedOptions } from './shared-options.ts';
import { showJson } from './show-json.ts';
import { timelineText } from './show-text.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface ShowOptions {
  tenant?: string;
  full?: boolean;
}

const SOME = { columns: 160, lines: 8 };
const ALL = { columns: Infinity, lines: Infinity };

const EXAMPLES = `
Examples:
  $ turnlock show 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10 --tenant acme
  $ turnlock show 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10 --json | jq .waiting
`;

/** `turnlock show`. */
export function showCommand(): Command {
  return new Command('show')
    .description('show a session: state, turns, calls, transitions, and what it waits for')
    .argument('<session>', 'id of the session')
    .option('--tenant <tenant>', 'whose it is; looked up where it is left out, which the database records')
    .option('--full', 'cut nothing')
    .addHelpText('after', EXAMPLES)
    .action(async (session: string, _options, command: Command) => {
      const options = optionsOf<ShowOptions>(command);
      const settings = await readSettings(options, { agents: false, mustExist: true });
      const record = await withStore(settings, async (store) =>
        readSessionRecord(store, await chooseSession(store, session, options.tenant)),
      );
      print(openTerminal(options), record, options);
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
