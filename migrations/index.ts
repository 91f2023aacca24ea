import { type DatabaseNames, databaseNames } from './database-names.ts';
import { createdRoles, grantStatements, type RoleKind } from './initial/roles.sql.ts';
import { INITIAL_MIGRATION, initialMigration } from './migration-20261129000000-initial.ts';

export { type DatabaseNames, DEFAULT_DATABASE_NAMES, databaseNames } from './database-names.ts';
export type { RoleKind } from './initial/roles.sql.ts';

/** The migrations, oldest first, for MikroORM's `migrationsList`. `given` renames schema or roles; absent means the defaults. */
export function migrationsFor(given: Partial<DatabaseNames> = {}) {
  return [{ name: INITIAL_MIGRATION, class: initialMigration(databaseNames(given)) }];
}

/** {@link migrationsFor} the default names. */
export const migrationsList = migrationsFor();

/** Name of the newest migration of this build. */
export const NEWEST_MIGRATION = INITIAL_MIGRATION;

/** The statements that give an existing role the rights of `kind`, what `--grant-to` and `--grant-reader-to` run. The role's name is quoted. */
export function grantsFor(kind: RoleKind, role: string, given: Partial<DatabaseNames> = {}): string[] {
  return grantStatements(databaseNames(given).schema, kind, `"${role.replaceAll('"', '""')}"`);
}

/**
 * What a role that may create roles has to run, where the migrating one may not: `existing` are the names in `pg_roles`, the statements
 * make the missing roles and grant to them. Empty when nothing is left.
 */
export function missingRoleStatements(existing: readonly string[], given: Partial<DatabaseNames> = {}): string[] {
  const names = databaseNames(given);
  return createdRoles(names)
    .filter(([, role]) => !existing.includes(role))
    .flatMap(([kind, role]) => [`CREATE ROLE ${role} NOLOGIN`, ...grantStatements(names.schema, kind, role)]);
}
