import { TurnlockError } from '../../errors.ts';
import type { Plan } from './plan.ts';

/** The form of the text; another one is refused. */
const FORM = 1;

/** A plan as text, from which {@link readPlan} makes it again. */
export function writePlan({ ids, order, commands }: Plan): string {
  return JSON.stringify({ form: FORM, ids, order, commands });
}

/** @throws OPTIONS_INVALID for a text that {@link writePlan} did not write. */
export function readPlan(text: string): Plan {
  const { form, ...plan } = parse(text);
  if (form !== FORM || !Array.isArray(plan.commands)) throw refused(`form ${String(form)}`);
  return plan as unknown as Plan;
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    throw refused('no JSON');
  }
  throw refused('no object');
}

function refused(found: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `replay not accepted: the text of a plan (found ${found}, wanted what a failure report says)`,
  });
}
