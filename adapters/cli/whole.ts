import { InvalidArgumentError } from 'commander';

/** The parser of an option that takes a whole number from `min` to `max`. */
export function whole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Wanted a whole number from ${min} to ${max}.`);
  };
}
