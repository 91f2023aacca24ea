import { TurnlockError } from '../../../errors.ts';

/** An answer that does not count, though the provider reported no error. */
export function brokenAnswer(
  found: string,
  { retryable, hint, finishReason }: { retryable: boolean; hint?: string; finishReason?: string },
): TurnlockError {
  return new TurnlockError('MODEL_FAILED', {
    message: `model answer does not count: the stream (found one that ${found}, wanted a whole answer)`,
    retryable,
    ...(hint === undefined ? {} : { hint }),
    details: finishReason === undefined ? {} : { finishReason },
  });
}
