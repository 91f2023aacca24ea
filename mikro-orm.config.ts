import { Migrator } from '@mikro-orm/migrations';
import { defineConfig } from '@mikro-orm/postgresql';
import { migrationsList } from './migrations/index.ts';
import { allEntities } from './persistence/entities/all-entities.ts';

/**
 * For MikroORM's own command line (`mikro-orm migration:pending`, `mikro-orm schema:update --dump`), in this repository only. The product
 * connects through its database adapters. MikroORM's migrator takes no lock: use `turnlock migrate` where processes may race.
 */
export default defineConfig({
  clientUrl: process.env.TURNLOCK_DATABASE_URL ?? 'postgres://localhost/postgres',
  entities: allEntities,
  schema: 'turnlock',
  extensions: [Migrator],
  migrations: { tableName: 'turnlock.migrations', migrationsList, snapshot: false },
  schemaGenerator: { ignoreTriggers: true, ignoreRoutines: true, ignoreSchema: ['public'] },
});
