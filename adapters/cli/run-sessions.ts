import { TurnlockError } from '../../errors.ts';
import type { SessionState } from '../../machines/session-state.ts';
import type { Build } from '../../persistence/build.ts';
import { listSessions, type SessionSummary } from '../../persistence/list-sessions.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { buildOfSettings } from './build-of-settings.ts';
import { readId } from './choose-session.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import { readTenants } from './read-tenants.ts';
import { printSessions } from './sessions-table.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal } from './terminal.ts';

/** What `turnlock sessions` takes. */
export interface SessionsOptions {
  tenant?: string;
  state?: SessionState;
  stranded?: boolean;
  forkOf?: string;
  limit: number;
}

/** Does what `turnlock sessions` says. */
export async function runSessions(options: SharedOptions & SessionsOptions): Promise<void> {
  const settings = await readSettings(options, { agents: options.stranded === true, mustExist: true });
  const build = buildOfSettings(settings);
  if (options.stranded === true && build === undefined) throw nothingToCompare();
  const found = await withStore(settings, (store) => read(store, options, build));
  printSessions(openTerminal(options), found, options.stranded === true);
}

function nothingToCompare(): TurnlockError {
  return new TurnlockError('CONFIG_INVALID', {
    message: 'no agents are known (found none, wanted those of the build that sessions are compared with)',
    hint: 'Export `agents` from turnlock.config.ts: with --stranded, sessions are compared with their versions.',
  });
}

async function read(
  store: Store,
  { tenant, state, stranded = false, forkOf, limit }: SessionsOptions,
  build: Build | undefined,
): Promise<SessionSummary[]> {
  const query = {
    limit,
    stranded,
    ...(forkOf === undefined ? {} : { forkOf: readId(forkOf, 'session') }),
    ...(build === undefined ? {} : { build }),
    ...(state === undefined ? {} : { state }),
  };
  const found = await readTenants(store, tenant, (tenantId) => listSessions(store, { tenantId, ...query }));
  return found.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime()).slice(0, limit);
}
