import { TurnlockError } from '../../errors.ts';
import type { Once } from './tool.contract.ts';

const OPTIONS = ['per', 'key', 'shareAcrossUsers'];

/** `once` of the tool, with its default; `null` where it declares none. @throws DEFINITION_INVALID. */
export function checkOnce(tool: string, once: unknown): Once | null {
  if (once === undefined) return null;
  check(tool, typeof once === 'object' && once !== null && !Array.isArray(once), 'once', 'an object');
  const { per, key, shareAcrossUsers = false } = once as Partial<Once>;
  const isOf = Object.keys(once as object).every((option) => OPTIONS.includes(option));
  check(tool, isOf, 'once', `only ${OPTIONS.join(', ')}`);
  check(tool, per === 'session' || per === 'tenant', 'once.per', 'session or tenant');
  check(tool, typeof key === 'function', 'once.key', 'a function');
  check(tool, typeof shareAcrossUsers === 'boolean', 'once.shareAcrossUsers', 'true or false');
  return { per, key, shareAcrossUsers } as Once;
}

function check(tool: string, holds: boolean, option: string, wanted: string): void {
  if (holds) return;
  throw new TurnlockError('DEFINITION_INVALID', {
    message: `tool option not accepted: ${option} of ${tool} (wanted ${wanted})`,
  });
}
