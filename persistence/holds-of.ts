import type { EntityManager } from '@mikro-orm/postgresql';
import type { Claiming } from './claims.ts';
import { type Control, readControls } from './read-controls.ts';

/** A call that is about to begin. */
export interface Start {
  executionId: string;
  toolName: string;
  /** In millionths of money. */
  cost: number;
}

/** Why a call may not begin by itself. */
export interface Hold {
  /** Ids of the freezes and budgets that are against it. */
  controls: string[];
  reason: string;
}

/**
 * Which of `starts` are frozen or over budget, by execution id. They use the budgets up one after the other. `tokens` are those that are
 * not written yet.
 */
export async function holdsOf(
  em: EntityManager,
  claiming: Claiming,
  starts: readonly Start[],
  tokens: number,
): Promise<Map<string, Hold>> {
  const holds = new Map<string, Hold>();
  if (starts.length === 0) return holds;
  const controls = await readControls(em, claiming, [...new Set(starts.map(({ toolName }) => toolName))]);
  for (const control of controls) if (control.unit === 'tokens') control.used += tokens;
  for (const start of starts) {
    const own = controls.filter(({ toolName }) => toolName === null || toolName === start.toolName);
    const against = own.filter((control) => control.kind === 'freeze' || isOver(control, start));
    if (against.length > 0) {
      const reason = against.map((control) => reasonOf(control, start)).join('\n');
      holds.set(start.executionId, { controls: against.map(({ controlId }) => controlId), reason });
    } else {
      for (const control of own) use(control, start);
    }
  }
  return holds;
}

function isOver({ unit, used, dailyLimit }: Control, { cost }: Start): boolean {
  if (unit === 'calls') return used + 1 > dailyLimit;
  return unit === 'microMoney' ? used + cost > dailyLimit : used >= dailyLimit;
}

function use(control: Control, { cost }: Start): void {
  if (control.unit === 'calls') control.used += 1;
  if (control.unit === 'microMoney') control.used += cost;
}

function reasonOf({ kind, toolName, unit, used, dailyLimit, reason }: Control, { cost }: Start): string {
  const why = reason === null ? '' : `: ${reason}`;
  if (kind === 'freeze') return `${toolName === null ? 'Every tool' : `The tool ${toolName}`} is frozen${why}.`;
  const of = toolName === null ? '' : ` of ${toolName}`;
  if (unit === 'microMoney') {
    const today = `${money(used)} of ${money(dailyLimit)}${of} are used today (UTC)`;
    return `The call costs ${money(cost)}, which is over budget: ${today}${why}.`;
  }
  return `The budget of ${dailyLimit} ${unit}${of} a day is used up: ${used} today (UTC)${why}.`;
}

function money(micros: number): string {
  return (micros / 1_000_000).toFixed(2);
}
