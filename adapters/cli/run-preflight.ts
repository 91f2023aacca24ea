import { TurnlockError } from '../../errors.ts';
import { checkAgents } from '../../runtime/check-agents.ts';
import { preflight } from '../../runtime/preflight/preflight.ts';
import type { PreflightExample, PreflightReport } from '../../runtime/preflight/preflight-report.ts';
import { checkTenant } from './choose-session.ts';
import { escapeText } from './escape-text.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { formatTable } from './format-table.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What `turnlock preflight` takes. */
export interface PreflightCommandOptions extends SharedOptions {
  tenant?: string;
  except?: string[];
  pageSize: number;
}

const NAME_WIDTH = 32;

/** Does what `turnlock preflight` says. */
export async function runPreflight(options: PreflightCommandOptions): Promise<void> {
  const settings = await readSettings(options, { agents: true, mustExist: true });
  const { agents = [] } = settings;
  if (agents.length === 0) throw nothingToCompare();
  const { tenant, except = [], pageSize } = options;
  const scope = tenant === undefined ? 'all' : { tenantId: checkTenant(tenant) };
  const known = checkAgents(agents);
  const report = await withStore(settings, (store) => preflight(store, { agents: known, scope, except, pageSize }));
  print(openTerminal(options), report);
  if (report.problems.length > 0) process.exitCode = EXIT_CODES.failed;
}

function nothingToCompare(): TurnlockError {
  return new TurnlockError('CONFIG_INVALID', {
    message: 'no agents are known (found none, wanted those of the build that is to be deployed)',
    hint: 'Export `agents` from turnlock.config.ts of the new build, and name it with --config.',
  });
}

function print(terminal: Terminal, report: PreflightReport): void {
  terminal.json(report);
  if (terminal.isJson) return;
  printTables(terminal, report);
  const { bold, red, green } = terminal.colours;
  for (const { problem, says, count, examples } of report.problems) {
    terminal.line(`${red(String(count))} ${bold(problem)}: ${says}`);
    for (const example of examples) terminal.line(`  ${exampleText(example)}`);
    if (count > examples.length) terminal.line(`  … and ${count - examples.length} more`);
  }
  if (report.problems.length === 0) terminal.line(green('The build goes on with all of them.'));
}

function printTables(terminal: Terminal, { sessions, parked, calls }: PreflightReport): void {
  const { dim } = terminal.colours;
  terminal.line(`${sessions} ${sessions === 1 ? 'session is' : 'sessions are'} not over.`);
  if (parked.length > 0) {
    const columns = [
      { title: 'AGENT', text: (group: (typeof parked)[number]) => escapeText(group.agent), maxWidth: NAME_WIDTH },
      { title: 'VERSION', text: (group: (typeof parked)[number]) => String(group.agentVersion) },
      { title: 'MACHINE', text: (group: (typeof parked)[number]) => String(group.machineVersion) },
      { title: 'SESSIONS', text: (group: (typeof parked)[number]) => statesText(group.states) },
    ];
    for (const line of formatTable(parked, columns, dim)) terminal.line(line);
  }
  if (calls.length > 0) {
    const columns = [
      { title: 'AGENT', text: (group: (typeof calls)[number]) => escapeText(group.agent), maxWidth: NAME_WIDTH },
      { title: 'TOOL', text: (group: (typeof calls)[number]) => escapeText(group.tool), maxWidth: NAME_WIDTH },
      { title: 'VERSION', text: (group: (typeof calls)[number]) => String(group.version) },
      { title: 'BUILD', text: (group: (typeof calls)[number]) => String(group.buildVersion ?? 'gone') },
      { title: 'OPEN CALLS', text: (group: (typeof calls)[number]) => String(group.count) },
    ];
    for (const line of ['', ...formatTable(calls, columns, dim)]) terminal.line(line);
  }
  terminal.line();
}

function statesText(states: PreflightReport['parked'][number]['states']): string {
  return Object.entries(states)
    .sort()
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}

function exampleText({ tenantId, sessionId, executionId, agent, tool, version, newer, why }: PreflightExample): string {
  const parts = [
    tool === undefined ? `agent ${agent} version ${version}` : `tool ${tool} version ${version} of agent ${agent}`,
    ...(newer === undefined ? [] : [`its ${newer} is newer`]),
    ...(sessionId === undefined ? [] : [`session ${sessionId}, tenant ${tenantId}`]),
    ...(executionId === undefined ? [] : [`execution ${executionId}`]),
    ...(why === undefined ? [] : [why]),
  ];
  return escapeText(parts.join(', '));
}
