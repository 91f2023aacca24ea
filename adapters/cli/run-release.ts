import { commitEvent } from '../../persistence/commit-event.ts';
import { readStanding } from '../../persistence/read-standings.ts';
import { checkWho } from '../../runtime/check-message.ts';
import { recoverWords } from '../../runtime/explain/command-words.ts';
import { releasing } from '../../runtime/release-lease.ts';
import { chooseSession } from './choose-session.ts';
import { escapeText } from './escape-text.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import { commandText } from './settle-commands.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal } from './terminal.ts';

/** What `turnlock release` takes. */
export interface ReleaseCommandOptions extends SharedOptions {
  tenant?: string;
  by: string;
}

/** Does what `turnlock release` says. Needs no agent: whoever has it goes on. */
export async function runRelease(session: string, options: ReleaseCommandOptions): Promise<void> {
  const settings = await readSettings(options, { agents: false, mustExist: true });
  const terminal = openTerminal(options);
  const by = checkWho(options.by);
  const released = await withStore(settings, async (store) => {
    const key = await chooseSession(store, session, options.tenant);
    const { leaseHolder: holder } = await readStanding(store, key);
    if (holder !== null) await commitEvent(store, { ...key, eventId: store.environment.uuid(), ...releasing(by) });
    return { ...key, released: holder !== null, holder };
  });
  terminal.json(released);
  if (!released.released) return terminal.line('Nobody holds it.');
  terminal.line(
    `Released: ${escapeText(released.holder ?? '')} holds it no more, and nothing that it still does is taken.`,
  );
  terminal.note(`Any worker goes on with it, or: ${commandText(recoverWords(), options)}`);
}
