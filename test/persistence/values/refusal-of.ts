import { isTurnlockError, type TurnlockError } from '../../../errors.ts';

/** The error with which `work` refuses. */
export function refusalOf(work: () => unknown): TurnlockError {
  try {
    work();
  } catch (error) {
    if (isTurnlockError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
