import { TurnlockError } from '../../../errors.ts';
import type { AiSdkSettings } from './ai-sdk-settings.ts';

/**
 * What this adapter itself reads of the settings of `aiSdk`; the rest is the SDK's to check.
 *
 * @throws DEFINITION_INVALID when they are no object, or one of them is of another kind.
 */
export function checkSettings(settings: unknown): asserts settings is AiSdkSettings {
  if (!isObject(settings)) throw refused('settings', 'an object');
  const { headers, tools, onWarnings, storeFile } = settings;
  if (headers !== undefined && !(isObject(headers) && Object.values(headers).every(isHeader))) {
    throw refused('headers', 'an object of texts');
  }
  if (tools !== undefined && !isObject(tools)) throw refused('tools', 'an object of tools');
  for (const [name, value] of Object.entries({ onWarnings, storeFile })) {
    if (value !== undefined && typeof value !== 'function') throw refused(name, 'a function');
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isHeader(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** Values are not told: one of them may be a key. */
function refused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('DEFINITION_INVALID', {
    message: `model option not accepted: ${option} of aiSdk (wanted ${wanted})`,
  });
}
