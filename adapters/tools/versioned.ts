import type { StandardSchemaV1 } from '@standard-schema/spec';
import { TurnlockError } from '../../errors.ts';
import { jsonSchemaOf } from './json-schema-of.ts';
import type { InputSchema, ToolVersion } from './tool.contract.ts';

/** One for all copies of the package in a process. */
const VERSIONS = Symbol.for('turnlock.versions');

/** An input schema with the versions that came before it. It validates, and says itself as JSON Schema, as the last of them does. */
export interface Versioned<Schema extends InputSchema = InputSchema>
  extends InputSchema<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>> {
  /**
   * The next version. `upgrade` makes params of the next schema's input out of those that the former one made, so out of what was stored;
   * what it returns is validated. It must be pure: it may be called again for the same params, in another process. It may be async.
   *
   * @throws DEFINITION_INVALID when the schema is none or has versions of its own, or `upgrade` is no function.
   */
  to<Next extends InputSchema>(
    schema: Next,
    upgrade: (
      old: StandardSchemaV1.InferOutput<Schema>,
    ) => StandardSchemaV1.InferInput<Next> | Promise<StandardSchemaV1.InferInput<Next>>,
  ): Versioned<Next>;
}

/**
 * The first version of a tool's input. The number of schemas in the chain is the tool's version; each call keeps the version whose schema
 * it was validated with, and is upgraded step by step when it runs with a later build. Never take out a version while calls of it may wait.
 *
 * @throws DEFINITION_INVALID when the schema is none or has versions of its own.
 *
 * @example
 * const input = versioned(z.object({ order: z.number() }))
 *   .to(z.object({ orderId: z.string() }), ({ order }) => ({ orderId: `A-${order}` }));
 */
export function versioned<const Schema extends InputSchema>(schema: Schema): Versioned<Schema> {
  return chain([versionOf(schema, null, 1)]);
}

/** The versions of an input schema, from 1 on; a schema that is not versioned is version 1. */
export function versionsOf(schema: InputSchema, place: string): readonly ToolVersion[] {
  const own = (schema as { [VERSIONS]?: readonly ToolVersion[] } | null | undefined)?.[VERSIONS];
  return own ?? [{ schema, jsonSchema: jsonSchemaOf(schema, place), upgrade: null }];
}

/** Whether `schema` was made by {@link versioned}. */
export function isVersioned(schema: unknown): schema is Versioned {
  return typeof schema === 'object' && schema !== null && VERSIONS in schema;
}

function chain<Schema extends InputSchema>(versions: readonly ToolVersion[]): Versioned<Schema> {
  const last = versions.at(-1) as ToolVersion;
  const made = {
    '~standard': last.schema['~standard'],
    [VERSIONS]: versions,
    to: (next: InputSchema, upgrade: (old: never) => unknown) => {
      const number = versions.length + 1;
      if (typeof upgrade !== 'function') throw refuse(number, 'a function that upgrades the params of the one before');
      return chain([...versions, versionOf(next, upgrade as ToolVersion['upgrade'], number)]);
    },
  };
  return made as unknown as Versioned<Schema>;
}

function versionOf(given: unknown, upgrade: ToolVersion['upgrade'], number: number): ToolVersion {
  if (isVersioned(given)) throw refuse(number, 'a schema without versions of its own');
  const schema = given as InputSchema;
  return { schema, jsonSchema: jsonSchemaOf(schema, `version ${number} of versioned(…)`), upgrade };
}

function refuse(version: number, wanted: string): TurnlockError {
  return new TurnlockError('DEFINITION_INVALID', {
    message: `versions not accepted: version ${version} of versioned(…) (wanted ${wanted})`,
  });
}
