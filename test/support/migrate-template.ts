import { existsSync } from 'node:fs';
import type { PGlite } from '@electric-sql/pglite';
import { systemEnvironment } from '../../environment.ts';
import { resolveLimits } from '../../limits.ts';
import type { Database, DatabaseAdapter } from '../../persistence/database.contract.ts';
import { withClient } from './with-client.ts';

/** The product's own way, loaded only when a test needs a migrated database: all others run while it is broken. */
const ADAPTER = '../../adapters/databases/postgres.ts';
const MIGRATE = '../../persistence/migrate.ts';

/** Brings an empty database to the newest schema, by the product's own migration. */
export async function migrateTemplate(url: string): Promise<void> {
  if (existsSync(new URL(ADAPTER, import.meta.url)) && existsSync(new URL(MIGRATE, import.meta.url))) {
    const { postgres } = (await import(ADAPTER)) as { postgres: (url: string) => DatabaseAdapter };
    const { migrate } = (await import(MIGRATE)) as { migrate: (database: Database) => Promise<unknown> };
    const database = await postgres(url).connect({ environment: systemEnvironment, limits: resolveLimits() });
    await migrate(database).finally(() => database.close());
    return;
  }
  const statements = await initialStatements();
  await withClient(url, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

/** The same for a PGlite instance. */
export async function migratePglite(pglite: PGlite): Promise<void> {
  for (const statement of await initialStatements()) await pglite.query(statement);
}

async function initialStatements(): Promise<string[]> {
  const { databaseNames } = await import('../../migrations/index.ts');
  const { initialMigrationSql } = await import('../../migrations/migration-20261129000000-initial.ts');
  return initialMigrationSql(databaseNames());
}
