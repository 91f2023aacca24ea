import { systemEnvironment } from '../../environment.ts';
import { resolveLimits } from '../../limits.ts';
import type { DatabaseWarning } from '../../persistence/database.contract.ts';
import { freeDeadLeases } from '../../persistence/free-dead-leases.ts';
import { checkSchema } from '../../persistence/migrate.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { toTurnlockError } from '../../persistence/sqlstate.ts';
import type { Settings } from './read-settings.ts';

/** How a store is opened. */
export interface StoreNeeds {
  /** `checked`: refuse another schema than this build's (default). `any`: whatever is there, for migrations. */
  schema?: 'checked' | 'any';
  /** Told what weakens a guarantee. Default: nobody is told. */
  onWarning?: (warning: DatabaseWarning) => void;
}

/**
 * Opens a database without agents, runs `work`, and closes it.
 *
 * @throws SCHEMA_MISSING, SCHEMA_OUTDATED, SCHEMA_TOO_NEW unless any schema will do.
 */
export async function withStore<Result>(
  settings: Pick<Settings, 'database' | 'environment' | 'limits'>,
  work: (store: Store) => Promise<Result>,
  { schema = 'checked', onWarning }: StoreNeeds = {},
): Promise<Result> {
  const environment = settings.environment ?? systemEnvironment;
  const limits = resolveLimits(settings.limits);
  const connecting = settings.database.connect({ environment, limits, ...(onWarning ? { onWarning } : {}) });
  const database = await connecting.catch((error: unknown) => {
    throw toTurnlockError(error);
  });
  const store: Store = { database, environment, limits };
  try {
    if (schema === 'checked') {
      await checkSchema(database);
      await freeLeases(store);
    }
    return await work(store);
  } finally {
    await database.close();
  }
}

/** Opening took the lock file of a dead process: only now is it known that what it held is free, so it is freed now. */
export async function freeLeases(store: Store): Promise<void> {
  if (store.database.tookOverDeadHolder) await freeDeadLeases(store);
}
