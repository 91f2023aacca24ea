/**
 * `text` with U+0000 and lone surrogates replaced by U+FFFD: PostgreSQL stores neither. Whole emoji survive, and so do the six
 * characters `\u0000`, which are ordinary text.
 */
export function replaceUnstorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
