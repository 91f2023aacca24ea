import { chooseSession } from './choose-session.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { withStore } from './open-store.ts';
import { readSettings, type Settings } from './read-settings.ts';
import { resultText } from './result-text.ts';
import { shareDatabase } from './shared-database.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal } from './terminal.ts';
import { withRuntime } from './with-runtime.ts';

/** What `turnlock retry` takes. */
export interface RetryCommandOptions extends SharedOptions {
  tenant?: string;
  by: string;
}

/** Does what `turnlock retry` says. */
export async function runRetry(sessionId: string, options: RetryCommandOptions): Promise<void> {
  const given = await readSettings(options, { agents: true, mustExist: true });
  const terminal = openTerminal(options);
  await using shared = shareDatabase(given.database);
  const settings: Settings = { ...given, database: shared.adapter };
  const key = await withStore(settings, (store) => chooseSession(store, sessionId, options.tenant));
  const result = await withRuntime(settings, terminal, async (runtime) => {
    const run = await (await runtime.session(key)).retry({ by: options.by });
    terminal.note('Begun. The session goes on…');
    return run.result();
  });
  terminal.json(result);
  for (const line of resultText(result, terminal.colours)) terminal.line(line);
  if (result.state === 'FAILED') process.exitCode = EXIT_CODES.failed;
}
