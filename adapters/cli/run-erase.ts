import { type Erasure, eraseUser } from '../../runtime/erase-user.ts';
import { checkTenant } from './choose-session.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import type { SharedOptions } from './shared-options.ts';
import { stopBetween } from './stop-between.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What `turnlock erase` takes. */
export interface EraseCommandOptions {
  tenant: string;
  user: string;
  by: string;
  cancelRuns?: boolean;
  dryRun?: boolean;
}

/** Does what `turnlock erase` says. It fails while something is left that is to be erased. */
export async function runErase(options: SharedOptions & EraseCommandOptions): Promise<void> {
  const settings = await readSettings(options, { agents: false, mustExist: true });
  const { tenant, user: userId, by, cancelRuns = false, dryRun = false } = options;
  const asked = { tenantId: checkTenant(tenant), userId, by, cancelRuns, dryRun };
  const terminal = openTerminal(options);
  const erasure = await stopBetween(terminal, (check) =>
    withStore(settings, (store) => eraseUser(store, asked, check)),
  );
  print(terminal, erasure);
  if (erasure.left.length > 0) process.exitCode = EXIT_CODES.failed;
}

function print(terminal: Terminal, erasure: Erasure): void {
  terminal.json(erasure);
  const { dryRun, sessions, left, memories, claims } = erasure;
  terminal.line(`${dryRun ? 'Sessions that would be erased' : 'Sessions erased'}: ${sessions}`);
  if (!dryRun) terminal.line(`Memories erased: ${memories}`);
  if (!dryRun) terminal.line(`Results of business keys without a session erased: ${claims}`);
  for (const { sessionId, state } of left) terminal.line(`Left: ${sessionId} ${state}`);
  if (left.length > 0) terminal.note('A run is under way there, or waits for a person. --cancel-runs cancels it.');
}
