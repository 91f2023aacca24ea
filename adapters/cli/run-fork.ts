import { forkSession } from '../../persistence/fork/fork-session.ts';
import { checkFork } from '../../runtime/check-fork.ts';
import { chooseSession } from './choose-session.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal } from './terminal.ts';

/** What `turnlock fork` takes. */
export interface ForkCommandOptions extends SharedOptions {
  tenant?: string;
  atTurn?: number;
  externalId?: string;
  by: string;
}

/** Does what `turnlock fork` says. */
export async function runFork(session: string, options: ForkCommandOptions): Promise<void> {
  const { tenant, atTurn, externalId, by } = options;
  const settings = await readSettings(options, { agents: false, mustExist: true });
  const terminal = openTerminal(options);
  const fork = await withStore(settings, async (store) => {
    const origin = await chooseSession(store, session, tenant);
    const given = {
      by,
      ...(atTurn === undefined ? {} : { atTurn }),
      ...(externalId === undefined ? {} : { externalId }),
    };
    return forkSession(store, { origin, sessionId: store.environment.uuid(), ...checkFork(store, given) });
  });
  const { sessionId, tenantId, externalId: own, forkedFrom, state, version } = fork;
  terminal.json({ sessionId, tenantId, externalId: own, forkedFrom, state, version });
  terminal.line(
    `session ${terminal.colours.bold(sessionId)} begins with turns 0 to ${forkedFrom?.turnIndex} of ${forkedFrom?.sessionId}`,
  );
}
