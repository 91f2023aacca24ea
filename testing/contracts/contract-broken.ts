import { inspect } from 'node:util';

/** A promise of a port that an adapter does not keep: what {@link ContractCase.run} rejects with. */
export class ContractBroken extends Error {
  override readonly name = 'ContractBroken';
  /** The promise, in words: the title of its case. */
  readonly promised: string;
  /** What was seen in its place. */
  readonly found: string;

  constructor({ port, promised, found, cause }: { port: string; promised: string; found: string; cause?: unknown }) {
    super(`contract of ${port} is broken: it ${promised} (found ${found})`, cause === undefined ? {} : { cause });
    this.promised = promised;
    this.found = found;
  }
}

/** What a case saw, before it is known which promise that breaks. */
export class Finding extends Error {}

/** @throws Finding with what was `found`, unless the promise `holds`. */
export function must(holds: boolean, found: string): asserts holds {
  if (!holds) throw new Finding(found);
}

const INLINE = { depth: 4, breakLength: Number.POSITIVE_INFINITY, compact: true, maxStringLength: 120 } as const;

/** A value as a failure shows it, on one line. */
export function shown(value: unknown): string {
  return value instanceof Error ? `${value.name}: ${value.message}` : inspect(value, INLINE);
}
