import { TurnlockError } from '../../errors.ts';
import type { RetentionRule } from '../../persistence/remove-sessions.ts';
import {
  checkPolicies,
  forWhom,
  keepLonger,
  type Retention,
  type RetentionPolicy,
  retain,
} from '../../runtime/retain.ts';
import { checkTenant } from './choose-session.ts';
import { escapeText } from './escape-text.ts';
import { formatTable } from './format-table.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import type { SharedOptions } from './shared-options.ts';
import { stopBetween } from './stop-between.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What `turnlock retain` takes. */
export interface RetainCommandOptions {
  tenant?: string;
  state?: RetentionPolicy['state'][];
  /** In milliseconds. */
  olderThan?: number;
  claimsOlderThan?: number;
  readsOlderThan?: number;
  memoriesOlderThan?: number;
  batch: number;
  insteadOfConfigured?: boolean;
  dryRun?: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Columns of a name in a table; `--json` prints it whole. */
const NAME_WIDTH = 32;

/** Does what `turnlock retain` says. */
export async function runRetain(options: SharedOptions & RetainCommandOptions): Promise<void> {
  const policies = policiesOf(options);
  // The configuration is read also where policies are given: what it keeps longer is not removed by a slip.
  const settings = await readSettings(options, { agents: true, mustExist: true });
  const configured = checkPolicies(settings.retention ?? []);
  if (policies === undefined && configured.length === 0) throw noPolicy();
  const longer = keepLonger(configured, policies ?? [], options.tenant);
  if (longer.length > 0 && !options.insteadOfConfigured) throw keptLonger(longer);
  const asked = {
    ...(policies === undefined ? {} : { policies }),
    ...(options.tenant === undefined ? {} : { tenantId: checkTenant(options.tenant) }),
    ...(options.claimsOlderThan === undefined ? {} : { claimsOlderThanMs: options.claimsOlderThan }),
    ...(options.readsOlderThan === undefined ? {} : { readsOlderThanMs: options.readsOlderThan }),
    ...(options.memoriesOlderThan === undefined ? {} : { memoriesOlderThanMs: options.memoriesOlderThan }),
    batchSize: options.batch,
    dryRun: options.dryRun === true,
  };
  const terminal = openTerminal(options);
  print(
    terminal,
    await stopBetween(terminal, (check) => withStore(settings, (store) => retain(store, asked, configured, check))),
  );
}

function policiesOf({ state, olderThan }: RetainCommandOptions): RetentionPolicy[] | undefined {
  if (state === undefined && olderThan === undefined) return undefined;
  if (state === undefined || olderThan === undefined) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `${state === undefined ? '--state' : '--older-than'} is missing (wanted both, or neither for the policies of the configuration)`,
    });
  }
  return state.map((one) => ({ state: one, olderThanMs: olderThan }));
}

function keptLonger(rules: readonly RetentionRule[]): TurnlockError {
  const kept = rules.map((rule) => `${forWhom(rule)} for ${rule.olderThanMs / DAY_MS} days`).join(', ');
  return new TurnlockError('OPTIONS_INVALID', {
    message: `--older-than is shorter than the configuration says (found that it keeps ${kept})`,
    hint: 'Pass --instead-of-configured if it shall not count this time: what is removed is gone.',
  });
}

function noPolicy(): TurnlockError {
  return new TurnlockError('CONFIG_INVALID', {
    message: 'no policy says what may go (found none in the configuration, no --state and --older-than)',
    hint: 'Pass --state and --older-than, or export `retention` from turnlock.config.ts.',
  });
}

function print(terminal: Terminal, retention: Retention): void {
  terminal.json(retention);
  const { dryRun, sessions, kept, claims, memories, reads } = retention;
  if (sessions.length > 0) {
    const lines = formatTable(
      sessions,
      [
        { title: 'TENANT', text: ({ tenantId }) => escapeText(tenantId), maxWidth: NAME_WIDTH },
        { title: 'STATE', text: ({ state }) => state },
        { title: dryRun ? 'WOULD GO' : 'REMOVED', text: (row) => String(row.sessions) },
      ],
      terminal.colours.dim,
    );
    for (const line of lines) terminal.line(line);
  } else terminal.note(dryRun ? 'No session would go.' : 'No session was removed.');
  if (kept > 0) terminal.note(`Kept for the next time, as somebody held them or they changed: ${kept}.`);
  if (claims > 0) terminal.note(`Business keys ${dryRun ? 'that would be forgotten' : 'forgotten'}: ${claims}.`);
  if (memories > 0)
    terminal.note(`Memories that counted no more and ${dryRun ? 'would go' : 'were removed'}: ${memories}.`);
  if (reads > 0) terminal.note(`Rows of what operators did ${dryRun ? 'that would go' : 'removed'}: ${reads}.`);
}
