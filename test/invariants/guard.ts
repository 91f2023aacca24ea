import type { Sql } from '../migrations/scene.ts';

/**
 * One way to break a promise. It is played twice: with the guard the promise holds, without it the promise is seen broken. So it cannot
 * pass by doing nothing.
 */
export interface Scene {
  readonly title: string;
  /** The rest of a scene that is legal. */
  arrange?(sql: Sql): Promise<unknown>;
  /** What breaks the promise, at the latest at the checks of COMMIT. `arranged` is what `arrange` returned. */
  // biome-ignore lint/suspicious/noExplicitAny: each scene knows what it arranged
  attempt(sql: Sql, arranged: any): Promise<unknown>;
  /** SQLSTATE with which the guard refuses the attempt. Absent: it lets it pass, and undoes or hides what would break the promise. */
  readonly refusal?: string;
  /** Whether the promise is broken, once the attempt has passed. Default: that it has passed. */
  // biome-ignore lint/suspicious/noExplicitAny: the same, and what the attempt answered
  isBroken?(sql: Sql, arranged: any, answer: any): Promise<boolean> | boolean;
}

/** Something in the live schema that keeps a promise, whoever writes. */
export interface SchemaGuard {
  /** As the page names it. */
  readonly name: string;
  /** What happens without it, as the page says it. */
  readonly prevents: string;
  /** Which objects of the catalogs it is, as `kind name on table`. */
  readonly covers: readonly string[];
  /** The statement that takes it out, and nothing else. */
  readonly takeOut: string;
  /** Statements that take out what stands in front of it, with the guard and without it. */
  readonly inFront?: readonly string[];
  readonly scenes: readonly Scene[];
}
