import type { PGlite } from '@electric-sql/pglite';
import { systemEnvironment } from '../../environment.ts';
import { resolveLimits } from '../../limits.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';

// The product is loaded only when a test needs a migrated database: all others run while it is broken.

/** Brings an empty database to the newest schema, as the product does. */
export async function migrateTemplate(url: string): Promise<void> {
  const { postgres } = await import('../../adapters/databases/postgres.ts');
  await migrateWith(postgres(url));
}

/** The same for a PGlite instance. */
export async function migratePglite(instance: PGlite): Promise<void> {
  const { pglite } = await import('../../adapters/databases/pglite.ts');
  await migrateWith(pglite({ instance }));
}

async function migrateWith(adapter: DatabaseAdapter): Promise<void> {
  const { migrate } = await import('../../persistence/migrate.ts');
  const database = await adapter.connect({ environment: systemEnvironment, limits: resolveLimits() });
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}
