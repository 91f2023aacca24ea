import { jsonPointer } from './json-pointer.ts';

/** More paths than this say no more than "in many places". */
const MAX_NOTES = 100;

/** A path of a row's note is no longer, in characters. */
const MAX_PATH_LENGTH = 512;

/**
 * Collects the paths at which characters were replaced, in a bounded space. A path that is too long gives way to that of its
 * container, and of too many paths the last is that of the whole value: each stays true, read as "within the value at this path".
 */
export class NotePaths {
  readonly #paths = new Set<string>();

  add(segments: readonly (string | number)[]): void {
    if (this.#paths.size >= MAX_NOTES) return;
    const full = this.#paths.size === MAX_NOTES - 1;
    this.#paths.add(full ? jsonPointer(segments.slice(0, 1)) : boundedPath(segments));
  }

  /** Empty when nothing was replaced. */
  toArray(): string[] {
    return [...this.#paths];
  }
}

function boundedPath(segments: readonly (string | number)[]): string {
  for (let length = segments.length; length > 1; length -= 1) {
    const path = jsonPointer(segments.slice(0, length));
    if (path.length <= MAX_PATH_LENGTH) return path;
  }
  return jsonPointer(segments.slice(0, 1));
}
