import { createHash } from 'node:crypto';
import { TurnlockError } from '../../../errors.ts';
import { MAX_CHARACTERS } from '../../../limits.ts';
import type { SdkModel } from './sdk-types.ts';

const MARK_CHARACTERS = 9;

/**
 * What is written to `active_model_id`: `given`, else the provider's own id. An id of more than 64 characters (those of some clouds) is
 * cut and ends in `~` and 8 digits of its SHA-256, so that two long ids stay two.
 *
 * @throws DEFINITION_INVALID when `given` is no text of 1 to 64 characters.
 */
export function modelIdOf(model: Pick<SdkModel, 'modelId'>, given?: string): string {
  if (given !== undefined) return checkGiven(given);
  const characters = [...model.modelId];
  if (characters.length <= MAX_CHARACTERS.modelId) return model.modelId || 'unnamed';
  const mark = createHash('sha256')
    .update(model.modelId)
    .digest('hex')
    .slice(0, MARK_CHARACTERS - 1);
  return `${characters.slice(0, MAX_CHARACTERS.modelId - MARK_CHARACTERS).join('')}~${mark}`;
}

function checkGiven(given: unknown): string {
  if (typeof given === 'string' && given !== '' && [...given].length <= MAX_CHARACTERS.modelId) return given;
  throw new TurnlockError('DEFINITION_INVALID', {
    message: `model option not accepted: modelId (wanted 1 to ${MAX_CHARACTERS.modelId} characters)`,
  });
}

/**
 * Whose signatures a model can read. The SDK names interfaces (`openai.chat`, `openai.responses`): the provider is what stands before
 * the point, so that another interface, or another name of it in a later release, does not lose what was signed. Behind a gateway it is
 * the provider that the model's id names.
 */
export function providerOf({ provider, modelId }: Pick<SdkModel, 'provider' | 'modelId'>): string {
  const [name = ''] = provider.split('.');
  const behind = /^[^/]+(?=\/)/.exec(modelId);
  return name === 'gateway' && behind !== null ? `gateway/${behind[0]}` : name;
}
