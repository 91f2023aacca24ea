import { INLINE, shown } from './shown.ts';

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
    if (typeof world !== 'object' || world === null || isCollection(world)) return new Map([['', shown(world, DEEP)]]);
    return new Map(partsOf(world).filter(([, text]) => text !== null) as [string, string][]);
  }
}

/** Each part with its text, which functions do not have. */
function partsOf(world: object): [string, string | null][] {
  try {
    return Object.keys(world).map((part) => [part, partOf(() => world[part as keyof object])]);
  } catch {
    return [['', shown(world, DEEP)]]; // a proxy that tells nobody what it has
  }
}

function partOf(get: () => unknown): string | null {
  try {
    const value = get();
    return typeof value === 'function' ? null : shown(value, DEEP);
  } catch {
    return '(cannot be read)';
  }
}

function isCollection(value: object): boolean {
  return Array.isArray(value) || value instanceof Map || value instanceof Set;
}
