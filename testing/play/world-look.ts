import { inspect } from 'node:util';
import { INLINE } from './watched-tool.ts';

/** What is looked at of a world: as deep as people read. */
const DEEP = { ...INLINE, depth: 6, maxArrayLength: 50, maxStringLength: 200 } as const;

/** Says what has changed in a world since the last look, part by part. What it keeps in private fields is not seen. */
export class WorldLook {
  readonly #world: unknown;
  #before: ReadonlyMap<string, string>;

  constructor(world: unknown) {
    this.#world = world;
    this.#before = this.#parts();
  }

  /** The parts that have changed, as they are now. */
  changes(): string[] {
    const now = this.#parts();
    const changed = [...now].filter(([part, text]) => this.#before.get(part) !== text);
    this.#before = now;
    return changed.map(([part, text]) => (part === '' ? text : `${part}: ${text}`));
  }

  #parts(): Map<string, string> {
    const world = this.#world;
    if (typeof world !== 'object' || world === null || isCollection(world))
      return new Map([['', inspect(world, DEEP)]]);
    return new Map(
      Object.entries(world)
        .filter(([, value]) => typeof value !== 'function')
        .map(([part, value]) => [part, inspect(value, DEEP)]),
    );
  }
}

function isCollection(value: object): boolean {
  return Array.isArray(value) || value instanceof Map || value instanceof Set;
}
