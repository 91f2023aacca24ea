import type { CommittedSession } from '../../persistence/committed-session.ts';
import type { SessionKey } from '../../persistence/read-session.ts';
import { readSession } from '../../persistence/read-session-by-key.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import type { Run } from '../../runtime/run.ts';
import type { Session } from '../../runtime/session-handle.ts';
import { chooseSession } from './choose-session.ts';
import { withStore } from './open-store.ts';
import { knowsAgent, printResult, printSettled } from './print-decided.ts';
import { readSettings, type Settings } from './read-settings.ts';
import { shareDatabase } from './shared-database.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal } from './terminal.ts';
import { withRuntime } from './with-runtime.ts';

/** Where the call is about which a person says something. */
export interface CallOptions extends SharedOptions {
  session: string;
  tenant?: string;
}

/** A person's word about a call. */
export interface Word {
  what: 'settled' | 'decided';
  /** Whether it has an output, which nobody holds against the tool's schema without the agent. */
  hasOutput?: boolean;
  /** With the session's agent at hand, which drives on. */
  withAgent(session: Session): Promise<Run>;
  /** Without it: the word alone is committed. */
  alone(store: Store, key: SessionKey): Promise<CommittedSession>;
}

/** Takes a person's word about a call: with the session's agent at hand it drives on, else it leaves that to who has it. */
export async function sayAboutCall(executionId: string, options: CallOptions, word: Word): Promise<void> {
  const given = await readSettings(options, { agents: true, mustExist: true });
  const terminal = openTerminal(options);
  await using shared = shareDatabase(given.database);
  const settings: Settings = { ...given, database: shared.adapter };
  const { key, committed } = await withStore(settings, async (store) => {
    const key = await chooseSession(store, options.session, options.tenant);
    const { session } = await readSession(store, key);
    return { key, committed: knowsAgent(settings, session) ? null : await word.alone(store, key) };
  });
  if (committed !== null) return printSettled(terminal, executionId, committed, word);
  const result = await withRuntime(settings, terminal, async (runtime) => {
    const run = await word.withAgent(await runtime.session(key));
    terminal.note(`${word.what === 'settled' ? 'Settled' : 'Decided'}. The session goes on…`);
    return run.result();
  });
  printResult(terminal, executionId, result);
}
