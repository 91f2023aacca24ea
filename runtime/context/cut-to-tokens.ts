import type { CountTokens } from './count-tokens.ts';

/** Stands where a text was cut. */
const CUT = ' …';

/** `text`, or as much of its beginning as has `maxTokens`, cut between characters. */
export function cutToTokens(text: string, maxTokens: number, countTokens: CountTokens): string {
  if (countTokens(text) <= maxTokens) return text;
  let fits = 0;
  let tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (countTokens(beginning(text, middle)) <= maxTokens) fits = middle;
    else tooLong = middle;
  }
  return fits === 0 ? '' : beginning(text, fits);
}

function beginning(text: string, units: number): string {
  const unit = text.charCodeAt(units - 1);
  const end = unit >= 0xd800 && unit <= 0xdbff ? units - 1 : units;
  return text.slice(0, end).trimEnd() + CUT;
}

/** `text`, or its two ends where it has more than `maxCharacters`, with the number of those left out between them. */
export function shortened(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const half = Math.floor(maxCharacters / 2);
  const ends = [text.slice(0, half), text.slice(text.length - half)] as const;
  const leftOut = text.length - 2 * half;
  return `${ends[0]}\n[… ${leftOut} characters left out …]\n${ends[1]}`.toWellFormed();
}
