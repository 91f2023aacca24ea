import { TurnlockError } from '../../errors.ts';
import {
  type ControlScope,
  dropControls,
  listControls,
  putControl,
  type StoredControl,
} from '../../persistence/operate-controls.ts';
import type { BudgetUnit } from '../../persistence/read-controls.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { checkIdentifier } from '../../persistence/values/check-identifier.ts';
import { normaliseText } from '../../persistence/values/normalise-text.ts';
import { checkTenant } from './choose-session.ts';
import { type ControlNames, unknownNames } from './control-names.ts';
import { escapeText } from './escape-text.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { formatTable } from './format-table.ts';
import { formatTime } from './format-time.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What `turnlock freeze` and `turnlock unfreeze` take. */
export interface FreezeOptions {
  tool?: string;
  allTools?: boolean;
  tenant?: string;
  reason?: string;
}

/** What `turnlock budget` takes: one of the amounts. */
export interface BudgetOptions extends FreezeOptions {
  calls?: number | 'none';
  tokens?: number | 'none';
  /** In millionths. */
  money?: number | 'none';
}

/** Characters that the column of a tool's name holds. */
const MAX_TOOL_CHARACTERS = 128;
const MAX_REASON_BYTES = 4_096;
const NAME_WIDTH = 32;

/** Does what `turnlock freeze` says. */
export async function runFreeze(options: SharedOptions & FreezeOptions): Promise<void> {
  const freeze = { ...scopeOf(options, 'freeze', null), dailyLimit: null, reason: reasonOf(options) };
  await operate(options, async (store) => [await putControl(store, freeze)], { names: freeze });
}

/** Does what `turnlock unfreeze` says. */
export async function runUnfreeze(options: SharedOptions & FreezeOptions): Promise<void> {
  await operate(options, (store) => dropControls(store, scopeOf(options, 'freeze', null)), ENDING);
}

/** Does what `turnlock budget` says. */
export async function runBudget(options: SharedOptions & BudgetOptions): Promise<void> {
  const [unit, amount] = amountOf(options);
  const scope = scopeOf(options, 'budget', unit);
  if (amount === 'none') return operate(options, (store) => dropControls(store, scope), ENDING);
  const budget = { ...scope, dailyLimit: amount, reason: reasonOf(options) };
  await operate(options, async (store) => [await putControl(store, budget)], { names: budget });
}

/** Does what `turnlock controls` says. */
export async function runControls(options: SharedOptions): Promise<void> {
  await operate(options, listControls);
}

/** How a command tells what it did. */
interface Telling {
  title?: string;
  /** What was named: a name that nobody knows is told, since it may be misspelt. */
  names?: ControlNames;
  /** Whether finding nothing is a failure. */
  mustFind?: boolean;
}

const ENDING: Telling = { title: 'Ended:', mustFind: true };

async function operate(
  options: SharedOptions,
  work: (store: Store) => Promise<StoredControl[]>,
  { title, names, mustFind = false }: Telling = {},
): Promise<void> {
  const settings = await readSettings(options, { agents: false, mustExist: true });
  const terminal = openTerminal(options);
  const { done, unknown } = await withStore(settings, async (store) => ({
    done: await work(store),
    unknown: names === undefined ? [] : await unknownNames(store, names, settings.agents ?? []),
  }));
  print(terminal, done, title);
  for (const warning of unknown) process.stderr.write(`${escapeText(warning)}\n`);
  if (unknown.length > 0) process.exitCode = EXIT_CODES.warned;
  if (mustFind && done.length === 0) process.exitCode = EXIT_CODES.failed;
}

function scopeOf(
  { tool, allTools = false, tenant }: FreezeOptions,
  kind: ControlScope['kind'],
  unit: BudgetUnit | null,
) {
  if (tool === undefined && !allTools) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: 'tool is missing (wanted --tool or --all-tools)',
      hint: 'Name the tool, or say --all-tools where every one is meant.',
    });
  }
  const toolName =
    tool === undefined ? null : checkIdentifier(tool, { name: '--tool', maxCharacters: MAX_TOOL_CHARACTERS });
  return { kind, unit, toolName, tenantId: tenant === undefined ? null : checkTenant(tenant) };
}

function reasonOf({ reason }: FreezeOptions): string | null {
  return reason === undefined ? null : normaliseText(reason, { maxBytes: MAX_REASON_BYTES, name: '--reason' }).value;
}

function amountOf({ calls, tokens, money }: BudgetOptions): [BudgetUnit, number | 'none'] {
  if (calls !== undefined) return ['calls', calls];
  if (tokens !== undefined) return ['tokens', tokens];
  if (money !== undefined) return ['microMoney', money];
  throw new TurnlockError('OPTIONS_INVALID', {
    message: 'amount is missing (wanted --calls, --tokens or --money)',
    hint: 'Name an amount a day, or none to end the budget.',
  });
}

function print(terminal: Terminal, controls: readonly StoredControl[], title?: string): void {
  for (const control of controls) terminal.json(control);
  if (controls.length === 0) terminal.note('Nothing is frozen or budgeted like that.');
  if (terminal.isJson || controls.length === 0) return;
  if (title !== undefined) terminal.line(title);
  const lines = formatTable(
    controls,
    [
      { title: 'KIND', text: ({ kind }) => kind },
      { title: 'TOOL', text: ({ toolName }) => escapeText(toolName ?? 'every tool'), maxWidth: NAME_WIDTH },
      { title: 'TENANT', text: ({ tenantId }) => escapeText(tenantId ?? 'each'), maxWidth: NAME_WIDTH },
      { title: 'A DAY', text: limitText },
      { title: 'SINCE', text: ({ createdAt }) => formatTime(createdAt) },
      { title: 'BY', text: ({ createdBy }) => escapeText(createdBy), maxWidth: NAME_WIDTH },
      { title: 'REASON', text: ({ reason }) => escapeText(reason ?? '-') },
    ],
    terminal.colours.dim,
  );
  for (const line of lines) terminal.line(line);
}

function limitText({ unit, dailyLimit }: StoredControl): string {
  if (dailyLimit === null) return '-';
  return unit === 'microMoney' ? `${(dailyLimit / 1_000_000).toFixed(2)} money` : `${dailyLimit} ${unit}`;
}
