import { TurnlockError } from '../../errors.ts';
import type { EffectClass } from '../../machines/execution-status.ts';
import type { OnRepeat } from './tool.contract.ts';

const CHOICES: readonly unknown[] = ['ask', 'answer', 'run'];

/** `onRepeat` of the tool, with its default. @throws DEFINITION_INVALID. */
export function checkOnRepeat(tool: string, effect: EffectClass, given: OnRepeat | undefined): OnRepeat {
  const isHarmless = effect === 'readOnly' || effect === 'idempotent';
  const fits = given === undefined || (CHOICES.includes(given) && (!isHarmless || given === 'run'));
  if (fits) return given ?? (isHarmless ? 'run' : 'ask');
  const wanted = isHarmless ? `none, since a repeat of a tool that is ${effect} does no harm` : 'ask, answer or run';
  throw new TurnlockError('DEFINITION_INVALID', {
    message: `tool option not accepted: onRepeat of ${tool} (wanted ${wanted})`,
  });
}
