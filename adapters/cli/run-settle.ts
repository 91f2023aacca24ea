import type { SessionKey } from '../../persistence/read-session.ts';
import { readSession } from '../../persistence/read-session-by-key.ts';
import type { Settlement } from '../../runtime/check-settlement.ts';
import type { RunResult } from '../../runtime/run-event.ts';
import { chooseSession, readId } from './choose-session.ts';
import { withStore } from './open-store.ts';
import { knowsAgent, printResult, printSettled } from './print-decided.ts';
import { readSettings, type Settings } from './read-settings.ts';
import { readSettlement, type SettleOptions } from './settle-options.ts';
import { settleWithoutAgent } from './settle-without-agent.ts';
import { shareDatabase } from './shared-database.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { withRuntime } from './with-runtime.ts';

interface Settling {
  key: SessionKey;
  executionId: string;
  settlement: Settlement;
}

/** Does what `turnlock settle` says: with the session's agent at hand it drives on, else it leaves that to who has it. */
export async function runSettle(execution: string, options: SharedOptions & SettleOptions): Promise<void> {
  const settlement = readSettlement(options);
  const executionId = readId(execution, 'execution');
  const given = await readSettings(options, { agents: true, mustExist: true });
  const terminal = openTerminal(options);
  await using shared = shareDatabase(given.database);
  const settings: Settings = { ...given, database: shared.adapter };
  const { key, settled } = await withStore(settings, async (store) => {
    const key = await chooseSession(store, options.session, options.tenant);
    const { session } = await readSession(store, key);
    if (knowsAgent(settings, session)) return { key, settled: null };
    return { key, settled: await settleWithoutAgent(store, key, executionId, settlement) };
  });
  if (settled !== null) printSettled(terminal, executionId, settled, 'settled');
  else printResult(terminal, executionId, await settleAndDrive(settings, terminal, { key, executionId, settlement }));
}

function settleAndDrive(
  settings: Settings,
  terminal: Terminal,
  { key, executionId, settlement }: Settling,
): Promise<RunResult> {
  return withRuntime(settings, terminal, async (runtime) => {
    const session = await runtime.session(key);
    const run = await session.settle(executionId, settlement);
    terminal.note('Settled. The session goes on…');
    return run.result();
  });
}
