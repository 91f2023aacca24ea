import { TurnlockError } from '../../errors.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { checkDoctor, type DoctorOptions } from '../../runtime/doctor/check-doctor.ts';
import { type DoctorReport, examine } from '../../runtime/doctor/doctor.ts';
import type { DoctorFinding } from '../../runtime/doctor/doctor-finding.ts';
import { buildOfSettings } from './build-of-settings.ts';
import { checkTenant, chooseSession } from './choose-session.ts';
import { escapeText } from './escape-text.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import { commandText, type Place } from './settle-commands.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What `turnlock doctor` takes. */
export interface DoctorCommandOptions extends SharedOptions {
  tenant?: string;
  all?: boolean;
  quick?: boolean;
  stuckAfter: number;
  pageSize: number;
}

/** Does what `turnlock doctor` says: findings are printed as they are made, and none is kept. */
export async function runDoctor(session: string | undefined, options: DoctorCommandOptions): Promise<void> {
  if (session !== undefined && options.all) throw tooMuch();
  // Agents are of use and not needed: with them it is told what is newer than their build.
  const settings = await readSettings(options, { agents: true, mustExist: true });
  const terminal = openTerminal(options);
  const knowing = { build: buildOfSettings(settings), announces: settings.onAwaiting !== undefined };
  const report = await withStore(settings, async (store) => {
    const asked: DoctorOptions = {
      ...(await scopeOf(store, session, options)),
      quick: options.quick === true,
      stuckAfterMs: options.stuckAfter * 1_000,
      pageSize: options.pageSize,
      maxFindings: 0,
      onFinding: (finding) => print(terminal, finding, options),
    };
    return examine(store, checkDoctor(asked, knowing));
  });
  conclude(terminal, report, session === undefined && options.tenant === undefined && !options.all);
}

function tooMuch(): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: 'option not accepted: --all (found it beside a session, wanted one of both)',
    hint: 'Name a session, or say --all.',
  });
}

async function scopeOf(
  store: Store,
  session: string | undefined,
  { tenant, all = false }: DoctorCommandOptions,
): Promise<DoctorOptions> {
  if (session !== undefined) return chooseSession(store, session, tenant);
  return tenant === undefined ? { all } : { tenantId: checkTenant(tenant) };
}

function print(terminal: Terminal, finding: DoctorFinding, given: Place): void {
  const { code, severity, tenantId, sessionId, place, says, found, wanted, repair } = finding;
  const commands = finding.commands.map((words) => commandText(words, given));
  terminal.json({ ...finding, commands });
  const { bold, red, yellow, dim } = terminal.colours;
  const where = [sessionId === null ? null : `session ${sessionId}`, place].filter((part) => part !== null);
  terminal.line(`${(severity === 'error' ? red : yellow)(severity)} ${bold(code)}  ${escapeText(where.join(', '))}`);
  terminal.line(`  ${says}`);
  terminal.line(`  found ${escapeText(found)}; wanted ${escapeText(wanted)}`);
  if (tenantId !== null) terminal.line(dim(`  tenant ${escapeText(tenantId)}`));
  terminal.line(`  ${repair}`);
  for (const command of commands) terminal.line(`  ${command}`);
}

function conclude(terminal: Terminal, report: DoctorReport, isDatabaseAlone: boolean): void {
  const { sessions, errors, warnings } = report;
  const what = isDatabaseAlone ? 'the database alone' : `${sessions} ${sessions === 1 ? 'session' : 'sessions'}`;
  const found = errors + warnings === 0 ? 'nothing is wrong' : `errors: ${errors}, warnings: ${warnings}`;
  terminal.note(`Looked at ${what}: ${found}.`);
  if (isDatabaseAlone) terminal.note('Sessions are looked at with --all, --tenant or the id of one.');
  if (errors > 0) process.exitCode = EXIT_CODES.failed;
  else if (warnings > 0) process.exitCode = EXIT_CODES.warned;
}
