import { TurnlockError } from '../../errors.ts';
import type { RememberedKind } from './memory.contract.ts';

/** Every kind of memory; a test compares it with the database's. */
export const REMEMBERED_KINDS: readonly RememberedKind[] = ['summary', 'preference', 'fact', 'episode'];

/** Refuses the options of a memory tool that do not hold. @throws DEFINITION_INVALID. */
export function checkMemoryOption(holds: boolean, tool: string, option: string, wanted: string): void {
  if (holds) return;
  throw new TurnlockError('DEFINITION_INVALID', {
    message: `tool option not accepted: ${option} of ${tool} (wanted ${wanted})`,
  });
}

/** @throws DEFINITION_INVALID unless `kinds` names one kind or more. */
export function checkKinds(tool: string, kinds: unknown): void {
  const isKinds = Array.isArray(kinds) && kinds.length > 0 && kinds.every((kind) => REMEMBERED_KINDS.includes(kind));
  checkMemoryOption(isKinds, tool, 'kinds', `one or more of ${REMEMBERED_KINDS.join(', ')}`);
}
