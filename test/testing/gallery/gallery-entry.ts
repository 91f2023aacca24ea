import type { PolicyCheck, ToolPolicyCheck } from '../../../testing/index.ts';

/** What each entry says of itself. */
interface EntryOf<Kind, Check> {
  /** Unique in the gallery; that of its file. */
  readonly name: string;
  /** One sentence: what is wrong, or why it is right. */
  readonly title: string;
  readonly kind: Kind;
  /** What kind of mistake it is; several entries may have the same. Absent: it is right. */
  readonly mistake?: string;
  /** Without what a run of the kit chooses. */
  readonly check: Omit<Check, 'numRuns' | 'seed' | 'database'>;
}

/** Tools, for `checkToolPolicy`. */
export type ToolsEntry<World> = EntryOf<'tools', ToolPolicyCheck<World>>;

/** A policy alone, for `checkPolicy`. */
export type PolicyEntry<Params, World> = EntryOf<'policy', PolicyCheck<Params, World>>;

/**
 * An entry of the gallery. One that is faulty breaks its invariants by its one mistake, in a schedule of at most six commands; one that is
 * right keeps them under every schedule.
 */
// biome-ignore lint/suspicious/noExplicitAny: each entry has a world of its own, which is given to nothing but its own functions
export type GalleryEntry = ToolsEntry<any> | PolicyEntry<any, any>;
