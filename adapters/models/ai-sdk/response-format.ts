import type { Json } from '../../../machines/event-content.ts';
import type { ModelRequest } from '../model.contract.ts';
import type { SdkCallOptions } from './sdk-types.ts';

type ResponseFormat = NonNullable<SdkCallOptions['responseFormat']>;
type JsonSchema = NonNullable<Extract<ResponseFormat, { type: 'json' }>['schema']>;

/** Keywords that hold one schema, or an array of them. */
const SCHEMAS = ['items', 'prefixItems', 'anyOf', 'oneOf', 'additionalProperties', 'not', 'if', 'then', 'else'];

/** Keywords that hold schemas by name. */
const SCHEMAS_BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions'];

/** The shape of the reply that ends a session, as a model of the SDK is asked for it; `{}` where the agent declares none. */
export function responseFormat({ outputSchema }: Pick<ModelRequest, 'outputSchema'>): {
  responseFormat?: ResponseFormat;
} {
  if (outputSchema === undefined) return {};
  return { responseFormat: { type: 'json', schema: closed(outputSchema) as JsonSchema } };
}

/**
 * `schema`, whose objects take no property but those that they name: providers that hold a model to a schema refuse one that is silent
 * on it. Parts of an `allOf` are left as they are, since they see each other's properties.
 */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const entries = Object.entries(schema).map(([name, value]): [string, Json] => {
    if (SCHEMAS.includes(name)) return [name, closed(value)];
    return [name, SCHEMAS_BY_NAME.includes(name) ? closedByName(value) : value];
  });
  const isSilent = schema.properties !== undefined && schema.additionalProperties === undefined;
  return Object.fromEntries(isSilent ? [...entries, ['additionalProperties', false]] : entries);
}

function closedByName(schemas: Json): Json {
  if (schemas === null || typeof schemas !== 'object' || Array.isArray(schemas)) return schemas;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closed(schema)]));
}
