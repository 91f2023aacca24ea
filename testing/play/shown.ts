import { type InspectOptions, inspect } from 'node:util';

/** Values on one line, as people read them. */
export const INLINE = { depth: 4, breakLength: Number.POSITIVE_INFINITY, compact: true, sorted: true } as const;

/** `value` as people read it. Never throws, whatever of it does: that nothing can be shown of it changes nothing about the run. */
export function shown(value: unknown, options: InspectOptions = INLINE): string {
  try {
    return inspect(value, options);
  } catch {
    return '(cannot be shown)';
  }
}
