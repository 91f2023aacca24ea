import { isTurnlockError, TurnlockError } from '../../../errors.ts';
import type { CarriedError } from './child-messages.ts';

/** An error as a pipe can carry it. A stack is kept only where the error is none of ours, that is a bug. */
export function carryError(error: unknown): CarriedError {
  if (isTurnlockError(error)) return { known: error.toJSON() };
  return { unknown: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** The error on the other side. */
export function carriedError(error: CarriedError): Error {
  if ('known' in error) return new TurnlockError(error.known.code, error.known);
  return new TurnlockError('INVARIANT_BROKEN', { message: `a process of ours failed: ${error.unknown}` });
}
