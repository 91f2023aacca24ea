import type { EntityManager } from '@mikro-orm/postgresql';
import { isTurnlockError, TurnlockError } from '../errors.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { Store } from './session-transaction.ts';

/** What is missing, and what helps, where a role may not. */
interface Refused {
  message: string;
  hint: string;
}

const GRANT = 'ave the owner run GRANT turnlock_operator TO this role.';

const REFUSED = {
  look: {
    message: 'role may not look across tenants (wanted the rights of turnlock_operator)',
    hint: `Name the tenant, or h${GRANT}`,
  },
  act: { message: 'role may not do what operators do (wanted the rights of turnlock_operator)', hint: `H${GRANT}` },
} as const satisfies Record<string, Refused>;

/**
 * Runs `work` as whoever is connected, without the runtime's role and without a tenant: for the functions that look across tenants and
 * leave a row of who called. On a server that takes a role with the rights of `turnlock_operator`; embedded, the owner has them. `work` may
 * be done again where its answer was lost.
 *
 * `to` says whether it looks for what a tenant would name as well, or acts: what is told to a role that may not.
 *
 * @throws PRIVILEGE_MISSING when the role may not.
 */
export async function asOperator<Result>(
  store: Store,
  work: (em: EntityManager) => Promise<Result>,
  { to = 'act' }: { to?: keyof typeof REFUSED } = {},
): Promise<Result> {
  const database = { ...store.database, runtimeRole: null };
  try {
    return await inPatientTransaction({ ...store, database }, { tenantId: '' }, work);
  } catch (error) {
    if (!isTurnlockError(error, 'PRIVILEGE_MISSING')) throw error;
    throw new TurnlockError('PRIVILEGE_MISSING', { ...REFUSED[to], details: error.details });
  }
}
