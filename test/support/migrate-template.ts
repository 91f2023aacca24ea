import { existsSync } from 'node:fs';
import type { PGlite } from '@electric-sql/pglite';
import { systemEnvironment } from '../../environment.ts';
import { resolveLimits } from '../../limits.ts';
import { withClient } from './with-client.ts';

/** Brings an empty database to the newest schema, by the product's own migration. */
export async function migrateTemplate(url: string): Promise<void> {
  if (existsSync('adapters/databases/postgres.ts')) {
    const { postgres } = await import('../../adapters/databases/postgres.ts' as string);
    return await migrateWith(postgres(url));
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

async function migrateWith(adapter: {
  connect(options: object): Promise<{ migrate(): Promise<unknown>; close(): Promise<void> }>;
}): Promise<void> {
  const database = await adapter.connect({ environment: systemEnvironment, limits: resolveLimits({}) });
  try {
    await database.migrate();
  } finally {
    await database.close();
  }
}
