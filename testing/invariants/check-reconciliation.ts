import { isReconciliation } from '../../adapters/tools/reconciliation.ts';
import type { Tool } from '../../adapters/tools/tool.contract.ts';
import { isTurnlockError } from '../../errors.ts';
import { resolveLimits } from '../../limits.ts';
import { normaliseJson } from '../../persistence/values/normalise-json.ts';
import { shown } from '../play/shown.ts';

/** What every `reconcile` owes, in words. The runtime makes the best of anything else, so nobody would hear of it. */
export const RECONCILES = 'reconcile answers with done(…), notDone() or cannotTell(…)';

const { maxOutputBytes, maxDepth } = resolveLimits();

/** What is wrong with an answer of `reconcile`; `null`: nothing. An output is not looked at where the schema of the tool makes another one of it. */
export function checkReconciliation({ name, outputSchema }: Tool, answer: unknown): string | null {
  const says = (why: string) => `reconcile of ${name} gave ${shown(answer)}${why}`;
  try {
    if (!isReconciliation(answer)) return says('');
    if (answer.type !== 'done' || outputSchema !== null) return null;
    normaliseJson(answer.output ?? null, { maxBytes: maxOutputBytes, maxDepth, name: 'output' });
    return null;
  } catch (error) {
    return says(isTurnlockError(error) ? `: ${error.message}` : ', which cannot be read');
  }
}
