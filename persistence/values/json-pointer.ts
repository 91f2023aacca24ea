/** The path to a place in a value, as RFC 6901 writes it: `/params/items/0/a~1b`. */
export function jsonPointer(segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
