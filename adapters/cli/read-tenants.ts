import { TurnlockError } from '../../errors.ts';
import { listTenants } from '../../persistence/list-tenants.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { checkTenant } from './choose-session.ts';

/**
 * What `read` finds for the tenant that the command line names; where it names none, for all of an embedded database, one after the other.
 *
 * @throws OPTIONS_INVALID on a server without a tenant.
 */
export async function readTenants<Found>(
  store: Store,
  tenant: string | undefined,
  read: (tenantId: string) => Promise<Found[]>,
): Promise<Found[]> {
  if (tenant !== undefined) return read(checkTenant(tenant));
  if (store.database.kind !== 'pglite') throw missingTenant();
  const found: Found[] = [];
  for (const tenantId of (await listTenants(store)).keys()) found.push(...(await read(tenantId)));
  return found;
}

/** The refusal where a server's tenant has to be named. */
export function missingTenant(): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: 'tenant is missing (wanted --tenant on a server)',
    hint: 'Pass --tenant: only an embedded database lists what all of them have.',
  });
}
