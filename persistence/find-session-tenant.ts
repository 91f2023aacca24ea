import { TurnlockError } from '../errors.ts';
import { findAcrossTenants } from './find-across-tenants.ts';
import type { Store } from './session-transaction.ts';

/**
 * The tenant of a session, whoever it belongs to. The look is recorded with the name of the role.
 *
 * @throws SESSION_NOT_FOUND when no tenant has it, PRIVILEGE_MISSING when the role may not look across tenants.
 */
export async function findSessionTenant(store: Store, sessionId: string): Promise<string> {
  const [found] = await findAcrossTenants(store, { sessionId }, 1);
  if (found !== undefined) return found.tenantId;
  throw new TurnlockError('SESSION_NOT_FOUND', {
    message: `session not found: ${sessionId} (wanted one of any tenant)`,
    details: { sessionId },
  });
}
