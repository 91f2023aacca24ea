import type { SchemaRefusalCode } from '../../../persistence/schema-refusals.ts';
import type { Sql } from '../scene.ts';

/** One way to break a promise of the schema. */
export interface RefusalCase {
  readonly code: SchemaRefusalCode;
  readonly title: string;
  /** The trigger that refuses, as `name on table`; absent for functions that people call. Without it the attempt passes, or fails otherwise. */
  readonly guard?: `${string} on ${string}`;
  /** The rest of a scene that is legal. */
  arrange?(sql: Sql): Promise<unknown>;
  /** What must be refused, at the latest by the checks of COMMIT. `arranged` is what `arrange` returned. */
  // biome-ignore lint/suspicious/noExplicitAny: each case knows what it arranged
  attempt(sql: Sql, arranged: any): Promise<unknown>;
}
