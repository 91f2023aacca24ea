import type { StandardSchemaV1 } from '@standard-schema/spec';
import { asSchema, type FlexibleSchema, type Schema } from 'ai';
import { TurnlockError } from '../../errors.ts';
import type { InputSchema } from './tool.contract.ts';
import { isVersioned } from './versioned.ts';

type Result = StandardSchemaV1.Result<unknown>;

/**
 * A schema of the AI SDK (Zod, Standard Schema, `jsonSchema()`, lazy) as input schema of a tool. One that has no validator, which
 * `jsonSchema()` alone has not, lets every value pass, as it does in the SDK.
 *
 * @throws DEFINITION_INVALID when its JSON Schema is a promise, or cannot be made.
 */
export function toInputSchema(tool: string, flexible: FlexibleSchema | undefined): InputSchema {
  if (isVersioned(flexible)) return flexible;
  const schema = attempt(tool, () => asSchema(flexible));
  const json: unknown = attempt(tool, () => schema.jsonSchema);
  if (typeof json !== 'object' || json === null)
    throw refused(tool, `JSON Schema of type ${json === null ? 'null' : typeof json}`);
  if ('then' in json && typeof json.then === 'function') {
    throw refused(tool, 'a promise', 'Wait for it first: jsonSchema(await …).');
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'ai-sdk',
      validate: validatorOf(flexible, schema),
      jsonSchema: { input: () => ({ ...json }), output: () => ({ ...json }) },
    },
  };
}

function validatorOf(flexible: FlexibleSchema | undefined, schema: Schema): (value: unknown) => Promise<Result> {
  // Its own validator says what is wrong and where; the SDK's wrapping of it says it in one text.
  if (typeof flexible === 'object' && flexible !== null && '~standard' in flexible) {
    return async (value) => await (flexible as StandardSchemaV1)['~standard'].validate(value);
  }
  return async (value) => {
    const result = (await schema.validate?.(value)) ?? { success: true, value };
    return result.success ? { value: result.value } : { issues: issuesOf(result.error) };
  };
}

/** What is wrong, place by place where the error says it. */
function issuesOf(error: Error & { issues?: unknown }): readonly StandardSchemaV1.Issue[] {
  const { issues = error.cause } = error;
  const known =
    Array.isArray(issues) && issues.length > 0 && issues.every((issue) => typeof issue?.message === 'string');
  return known ? (issues as StandardSchemaV1.Issue[]) : [{ message: error.message }];
}

function attempt<T>(tool: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw refused(tool, cause instanceof Error ? cause.message : typeof cause);
  }
}

function refused(tool: string, found: string, hint?: string): TurnlockError {
  return new TurnlockError('DEFINITION_INVALID', {
    message: `schema has no JSON Schema form: inputSchema of ${tool} (found ${found})`,
    ...(hint === undefined ? {} : { hint }),
  });
}
