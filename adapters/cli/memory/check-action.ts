import { TurnlockError } from '../../../errors.ts';
import type { MemoryAction, MemoryCommandOptions } from './run-memory.ts';

/** How options are written that not every action takes. */
const WRITTEN = { tenant: '--tenant', user: '--user', kind: '--kind', id: '--id', all: '--all', dryRun: '--dry-run' };

const TAKES: Record<MemoryAction, readonly (keyof typeof WRITTEN)[]> = {
  list: ['tenant', 'user', 'kind'],
  recall: ['tenant', 'user', 'kind'],
  forget: ['tenant', 'user', 'kind', 'id', 'all'],
  reembed: ['dryRun'],
};

/**
 * Whoever says what an action does not take expects something else of it: `forget --dry-run` would forget, and `reembed --tenant` would drop the
 * vectors of all.
 *
 * @throws OPTIONS_INVALID.
 */
export function checkAction(action: MemoryAction, query: string | undefined, options: MemoryCommandOptions): void {
  const taken = TAKES[action];
  for (const [name, written] of Object.entries(WRITTEN) as [keyof typeof WRITTEN, string][]) {
    if (options[name] !== undefined && !taken.includes(name)) {
      throw refused(`${written} with ${action}`, 'one that it takes');
    }
  }
  if (query !== undefined && action !== 'recall') throw refused(`a query with ${action}`, 'none');
  if (options.id !== undefined && (options.all !== undefined || options.kind !== undefined)) {
    throw refused('--id beside --all or --kind', 'one of them');
  }
}

function refused(found: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', { message: `option not accepted: ${found} (wanted ${wanted})` });
}
