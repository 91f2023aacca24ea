import type { StandardSchemaV1 } from '@standard-schema/spec';
import { TurnlockError } from '../errors.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import { issuesText } from './issues-text.ts';

/**
 * What the validator of `schema` makes of `value`, or what it objects to, as text for a model.
 *
 * @throws whatever the validator throws; DEFINITION_INVALID when it answers with neither.
 */
export async function validate(
  schema: StandardSchemaV1,
  value: unknown,
): Promise<{ value: unknown; issues?: never } | { issues: string }> {
  const result: unknown = await schema['~standard'].validate(value);
  if (typeof result !== 'object' || result === null) throw refuse(kindOf(result));
  const { issues, value: made } = result as { issues?: unknown; value?: unknown };
  if (issues === undefined) return { value: made };
  if (!Array.isArray(issues)) throw refuse(`${kindOf(issues)} as issues`);
  return { issues: issuesText(issues) };
}

function refuse(found: string): TurnlockError {
  return new TurnlockError('DEFINITION_INVALID', {
    message: `validator answered with no result: a schema (found ${found}, wanted a value or a list of issues)`,
  });
}
