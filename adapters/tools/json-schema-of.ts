import { TurnlockError } from '../../errors.ts';
import type { InputSchema } from './tool.contract.ts';

/**
 * `schema` as JSON Schema, draft 2020-12: what is to be written so that it validates. `place` names option and owner in errors.
 *
 * @throws DEFINITION_INVALID when it is no Standard Schema, or cannot say itself as JSON Schema.
 */
export function jsonSchemaOf(schema: InputSchema, place: string): Record<string, unknown> {
  const standard = schema?.['~standard'];
  check(typeof standard?.validate === 'function', place, 'a Standard Schema');
  check(typeof standard.jsonSchema?.input === 'function', place, 'a Standard Schema with JSON Schema output');
  try {
    return standard.jsonSchema.input({ target: 'draft-2020-12' });
  } catch (cause) {
    throw new TurnlockError('DEFINITION_INVALID', {
      message: `schema has no JSON Schema form: ${place} (found ${cause instanceof Error ? cause.message : typeof cause})`,
      cause,
    });
  }
}

function check(holds: boolean, place: string, wanted: string): void {
  if (!holds)
    throw new TurnlockError('DEFINITION_INVALID', { message: `schema not accepted: ${place} (wanted ${wanted})` });
}
