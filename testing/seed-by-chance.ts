import { randomInt } from 'node:crypto';

/** A seed for whoever names none. */
export function seedByChance(): number {
  return randomInt(2 ** 31);
}
