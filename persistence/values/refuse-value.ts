import { TurnlockError } from '../../errors.ts';
import { jsonPointer } from './json-pointer.ts';

/** A path in a message is cut to this many characters: keys are the caller's, and can be as long as they like. */
const MAX_PATH_LENGTH = 200;

/** The path of `segments`, cut where it is long. */
function shownPath(segments: readonly (string | number)[]): string {
  const path = jsonPointer(segments);
  return path.length <= MAX_PATH_LENGTH ? path : `${path.slice(0, MAX_PATH_LENGTH).toWellFormed()}…`;
}

/** VALUE_INVALID: what stands at `segments` is nothing that can be stored as it is. */
export function refuseValue(
  segments: readonly (string | number)[],
  found: string,
  wanted = 'what JSON can hold',
): TurnlockError {
  const path = shownPath(segments);
  return new TurnlockError('VALUE_INVALID', {
    message: `value cannot be stored: ${path} (found ${found}, wanted ${wanted})`,
    details: { path, found, wanted },
  });
}

/** VALUE_TOO_LARGE: what stands at `segments` goes beyond `limit` of one kind. */
export function refuseSize(
  segments: readonly (string | number)[],
  limit: number,
  unit: 'bytes' | 'levels' | 'characters' | 'values',
): TurnlockError {
  const path = shownPath(segments);
  return new TurnlockError('VALUE_TOO_LARGE', {
    message: `value is too large: ${path} (found more than ${limit} ${unit}, wanted at most ${limit})`,
    details: { path, unit, limit },
  });
}
