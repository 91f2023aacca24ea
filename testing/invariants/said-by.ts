import { TurnlockError } from '../../errors.ts';
import { kindOf } from '../../persistence/values/kind-of.ts';

/**
 * What an invariant says that does not hold; `null`: it holds.
 *
 * @throws OPTIONS_INVALID for one that says neither, such as a promise: whatever it comes to, it would count as holding.
 */
export function saidBy(invariant: string, look: () => unknown): string | null {
  let said: unknown;
  try {
    said = look();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (typeof said === 'string') return said;
  if (said === undefined || typeof said === 'boolean') return said === false ? 'it does not hold' : null;
  if (said instanceof Promise) said.catch(() => undefined); // nobody waits for it
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: invariants: ${JSON.stringify(invariant)} (found that it returns ${kindOf(said)}, wanted nothing, true, false or a sentence, at once)`,
  });
}
