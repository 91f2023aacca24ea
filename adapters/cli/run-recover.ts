import type { Recovery } from '../../runtime/recover.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { readSettings } from './read-settings.ts';
import { printRecovery } from './recovery-line.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { withRuntime } from './with-runtime.ts';

/** Another worker is at it: nothing is left to do here. */
const ELSEWHERE = ['LEASE_HELD', 'TOKEN_STALE'];

/** Does what `turnlock recover` says. */
export async function runRecover(options: SharedOptions): Promise<void> {
  const terminal = openTerminal(options);
  const settings = await readSettings(options, { agents: true, mustExist: true });
  terminal.note('Bringing owed sessions to rest. A call that may not be repeated is waited for until its deadline.');
  print(terminal, await withRuntime(settings, terminal, (runtime) => runtime.recover()));
}

function print(terminal: Terminal, recoveries: readonly Recovery[]): void {
  for (const recovery of recoveries) printRecovery(terminal, recovery);
  if (recoveries.length === 0) terminal.note('No session owes work.');
  const isUndone = ({ skipped }: Recovery) => skipped !== undefined && !ELSEWHERE.includes(skipped);
  if (recoveries.some(isUndone)) process.exitCode = EXIT_CODES.failed;
}
