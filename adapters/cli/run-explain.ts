import { explainSession } from '../../runtime/explain/explain-session.ts';
import type { Explanation, Waiting } from '../../runtime/explain/explanation.ts';
import { buildOfSettings } from './build-of-settings.ts';
import { chooseSession } from './choose-session.ts';
import { explainText } from './explain-text.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import { commandText, type Place } from './settle-commands.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal } from './terminal.ts';

/** What `turnlock explain` takes. */
export interface ExplainOptions extends SharedOptions {
  tenant?: string;
}

/** Does what `turnlock explain` says. */
export async function runExplain(session: string, options: ExplainOptions): Promise<void> {
  // Agents are of use and not needed: with them it is told what is newer than their build.
  const settings = await readSettings(options, { agents: true, mustExist: true });
  const build = buildOfSettings(settings);
  const explanation = await withStore(settings, async (store) =>
    explainSession({ store, build }, await chooseSession(store, session, options.tenant)),
  );
  const terminal = openTerminal(options);
  terminal.json(withCommandTexts(explanation, options));
  for (const line of explainText(explanation, terminal, options)) terminal.line(line);
}

/** The same with each command as a line for a shell. */
function withCommandTexts(explanation: Explanation, given: Place): object {
  return { ...explanation, waitsFor: explanation.waitsFor.map((waiting) => waitingJson(waiting, given)) };
}

function waitingJson(waiting: Waiting, given: Place): object {
  const commands = waiting.commands.map((words) => commandText(words, given));
  if (waiting.kind !== 'child') return { ...waiting, commands };
  return { ...waiting, commands, waitsFor: waiting.waitsFor.map((inner) => waitingJson(inner, given)) };
}
