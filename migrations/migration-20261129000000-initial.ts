import { Migration } from '@mikro-orm/migrations';
import type { DatabaseNames } from './database-names.ts';
import { auditSql } from './initial/audit.sql.ts';
import { auditGuardsSql } from './initial/audit-guards.sql.ts';
import { clientFunctionsSql } from './initial/client-functions.sql.ts';
import { clockSql } from './initial/clock.sql.ts';
import { commitFunctionsSql } from './initial/commit-functions.sql.ts';
import { erasureFunctionsSql } from './initial/erasure-functions.sql.ts';
import { inboxSql } from './initial/inbox.sql.ts';
import { memoriesSql } from './initial/memories.sql.ts';
import { memoryFunctionsSql } from './initial/memory-functions.sql.ts';
import { operatorFunctionsSql } from './initial/operator-functions.sql.ts';
import { policiesSql } from './initial/policies.sql.ts';
import { retentionFunctionsSql } from './initial/retention-functions.sql.ts';
import { createRolesSql, grantRolesSql } from './initial/roles.sql.ts';
import { sessionGuardsSql } from './initial/session-guards.sql.ts';
import { sessionsSql } from './initial/sessions.sql.ts';
import { toolExecutionsSql } from './initial/tool-executions.sql.ts';
import { turnsSql } from './initial/turns.sql.ts';
import { workGuardsSql } from './initial/work-guards.sql.ts';
import { workRecordsSql } from './initial/work-records.sql.ts';
import { workerFunctionsSql } from './initial/worker-functions.sql.ts';

/** Name under which the migration is recorded. */
export const INITIAL_MIGRATION = 'migration-20261129000000-initial';

/** Every statement of the first migration, each to be sent alone: PGlite takes one at a time. */
export function initialMigrationSql(names: DatabaseNames): string[] {
  const { schema } = names;
  return [
    // CREATE SCHEMA IF NOT EXISTS asks for the right on the database even where the schema exists.
    `DO $$ BEGIN
  IF to_regnamespace('${schema}') IS NULL THEN CREATE SCHEMA ${schema}; END IF;
END $$`,
    ...createRolesSql(names),
    ...clockSql(schema),
    ...sessionsSql(schema),
    ...turnsSql(schema),
    ...toolExecutionsSql(schema),
    ...auditSql(schema),
    ...inboxSql(schema),
    ...workRecordsSql(schema),
    ...memoriesSql(schema),
    ...sessionGuardsSql(schema),
    ...auditGuardsSql(schema),
    ...workGuardsSql(schema),
    ...commitFunctionsSql(schema),
    ...clientFunctionsSql(schema),
    ...memoryFunctionsSql(schema),
    ...workerFunctionsSql(schema),
    ...operatorFunctionsSql(schema),
    ...retentionFunctionsSql(schema),
    ...erasureFunctionsSql(schema),
    ...policiesSql(schema),
    ...grantRolesSql(names),
  ];
}

/** The first migration, for the names given. There is no way down: it would take the audit with it. */
export function initialMigration(
  names: DatabaseNames,
): new (
  ...args: ConstructorParameters<typeof Migration>
) => Migration {
  return class InitialMigration extends Migration {
    override up(): void {
      for (const statement of initialMigrationSql(names)) this.addSql(statement);
    }
  };
}
