import { grantsFor, migrationsFor, missingRoleStatements } from '../../migrations/index.ts';
import { SCHEMA_OBJECTS } from '../../migrations/schema-objects.ts';
import type { MigrationSet } from '../../persistence/database.contract.ts';

/** The migrations of this build as statements, read out of their classes without a database. */
export function migrationSet(schema: string): MigrationSet {
  const names = { schema };
  return {
    migrations: migrationsFor(names).map(({ name, class: Migration }) => {
      const migration = new Migration(undefined as never, undefined as never);
      migration.up();
      return { name, statements: migration.getQueries().map(String) };
    }),
    objects: SCHEMA_OBJECTS,
    grantsFor: (kind, role) => [
      ...grantsFor(kind, role, names),
      `GRANT SELECT ON ${schema}.migrations TO "${role.replaceAll('"', '""')}"`,
    ],
    missingRoleStatements: (existing) => missingRoleStatements(existing, names),
  };
}
