import { kindOf } from './kind-of.ts';
import { refuseValue } from './refuse-value.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * `value` in lower case, the one form in which ids of ours are compared, hashed and locked. PostgreSQL reads other forms too (without
 * hyphens, in braces), which would be other keys here.
 *
 * @throws VALUE_INVALID when it is no UUID of 36 characters.
 */
export function checkUuid(value: unknown, name: string): string {
  if (typeof value !== 'string') throw refuseValue([name], kindOf(value), 'a UUID');
  if (!UUID.test(value)) throw refuseValue([name], 'other text', 'a UUID');
  return value.toLowerCase();
}
