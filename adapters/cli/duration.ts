import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** An age as it is typed, such as `90d`, in milliseconds. */
export function parseAge(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (amount !== undefined && factor !== undefined) return Number(amount) * factor;
  throw new InvalidArgumentError('Wanted a whole number with s, m, h or d, such as 90d.');
}
