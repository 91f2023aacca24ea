import type { Environment } from '../../environment.ts';

/** Ids and chance out of a seed: the same seed gives the same ones, in the same order. */
export class SeededChance implements Pick<Environment, 'uuid' | 'random'> {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Mulberry32: small, quick, and even enough for ids and choices. */
  random = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** A UUID of version 4. */
  uuid = (): string => {
    const digits = Array.from({ length: 4 }, () =>
      Math.floor(this.random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    ).join('');
    const variant = (8 + (Number.parseInt(digits.charAt(16), 16) % 4)).toString(16);
    return [
      digits.slice(0, 8),
      digits.slice(8, 12),
      `4${digits.slice(13, 16)}`,
      variant + digits.slice(17, 20),
      digits.slice(20),
    ].join('-');
  };
}
