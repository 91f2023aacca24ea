import type { EntityManager } from '@mikro-orm/postgresql';
import { isTurnlockError, TurnlockError } from '../errors.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { Store } from './session-transaction.ts';

/**
 * Runs `work` as whoever is connected, without the runtime's role and without a tenant: for the functions that look across tenants and
 * leave a row of who looked. On a server that takes a role with the rights of `turnlock_operator`; embedded, the owner has them. `work` may
 * be done again where its answer was lost.
 *
 * @throws PRIVILEGE_MISSING when the role may not.
 */
export async function asOperator<Result>(store: Store, work: (em: EntityManager) => Promise<Result>): Promise<Result> {
  const database = { ...store.database, runtimeRole: null };
  try {
    return await inPatientTransaction({ ...store, database }, { tenantId: '' }, work);
  } catch (error) {
    if (!isTurnlockError(error, 'PRIVILEGE_MISSING')) throw error;
    throw new TurnlockError('PRIVILEGE_MISSING', {
      message: 'role may not look across tenants (wanted the rights of turnlock_operator)',
      hint: 'Name the tenant, or have the owner run GRANT turnlock_operator TO this role.',
      details: error.details,
    });
  }
}
