import { type Environment, systemEnvironment } from '../../../environment.ts';
import { type Limits, resolveLimits } from '../../../limits.ts';
import type { Database, DatabaseAdapter, DatabaseWarning } from '../../../persistence/database.contract.ts';
import { atTestEnd } from '../../support/at-test-end.ts';

/** How a test connects; absent means the product's defaults. */
export interface ConnectWith {
  environment?: Partial<Environment>;
  limits?: Partial<Limits>;
  onWarning?: (warning: DatabaseWarning) => void;
}

/** Connects, and closes the database at the end of the test. */
export async function connect(
  adapter: DatabaseAdapter,
  { environment, limits, ...more }: ConnectWith = {},
): Promise<Database> {
  const database = await adapter.connect({
    environment: { ...systemEnvironment, ...environment },
    limits: resolveLimits(limits),
    ...more,
  });
  atTestEnd(() => database.close());
  return database;
}
