import type { EntityManager } from '@mikro-orm/postgresql';
import { TurnlockError } from '../errors.ts';
import type { Database } from './database.contract.ts';
import { grantEmbeddingsSql } from './memory/embeddings-sql.ts';
import { compareSchema } from './migrate-check.ts';
import { migrationsTableSql } from './migrate-sql.ts';
import { underMigrationLock } from './migration-lock.ts';
import { toTurnlockError } from './sqlstate.ts';

/** What to do about the schema. */
export interface MigrateOptions {
  /** `up`: bring it to this build's version. `check`: compare only, and throw when it does not fit. Default `up`. */
  mode?: 'up' | 'check';
  /** A role that exists and is to have the rights of a runtime. */
  grantTo?: string;
  /** A role that exists and is to read what a runtime reads, and to write nothing. */
  grantReaderTo?: string;
}

/** What was done. */
export interface MigrateResult {
  /** Names of the migrations that ran, oldest first; empty when the schema was up to date. */
  readonly applied: readonly string[];
  /** Statements that our role was not allowed to run, and that one which may create roles has to. */
  readonly leftToRun: readonly string[];
}

/**
 * Brings the schema to this build's version, or checks that it is there. All or nothing, and one process at a time: the others wait and
 * then find nothing to do (shown by the C56 tests). Without the right to create schemas or roles it does what is left.
 *
 * @throws SCHEMA_TOO_NEW when the schema has a migration that this build does not know; nothing is changed then.
 * @throws SCHEMA_MISSING, SCHEMA_OUTDATED in mode `check`.
 * @throws PRIVILEGE_MISSING when the role may not do it, OPTIONS_INVALID when the role to grant to does not exist.
 */
export async function migrate(
  database: Database,
  { mode = 'up', ...grants }: MigrateOptions = {},
): Promise<MigrateResult> {
  try {
    if (mode === 'check') {
      await checkSchema(database);
      return { applied: [], leftToRun: [] };
    }
    const result = await database.unhurried(() => migrateUp(database, grants));
    if (result.applied.length > 0) await database.reviewSetup();
    return result;
  } catch (error) {
    throw toTurnlockError(error);
  }
}

/**
 * Checks that the schema is this build's, and changes nothing.
 *
 * @throws SCHEMA_MISSING, SCHEMA_OUTDATED, SCHEMA_TOO_NEW when it is not, PRIVILEGE_MISSING when the role may not look.
 */
export async function checkSchema(database: Database): Promise<void> {
  try {
    await compareSchema(database);
  } catch (error) {
    throw toTurnlockError(error);
  }
}

/**
 * MikroORM's migrator makes its table on a connection of its own and outside any lock. So the table is made here, under the lock; its
 * `init` then only looks, and `up` needs no second connection while the transaction holds the first.
 */
async function migrateUp(
  database: Database,
  { grantTo, grantReaderTo }: Omit<MigrateOptions, 'mode'>,
): Promise<MigrateResult> {
  const { orm, schema } = database;
  await underMigrationLock(database, async (em) => {
    for (const statement of migrationsTableSql(schema)) await em.execute(statement);
  });
  const { migrator } = orm;
  await (migrator as typeof migrator & { init(): Promise<void> }).init();
  return await underMigrationLock(database, async (em) => {
    await compareSchema(database, { em, tolerates: ['SCHEMA_MISSING', 'SCHEMA_OUTDATED'] });
    const applied = await migrator.up({ transaction: em.getTransactionContext()! });
    if (grantTo !== undefined) await grant(em, database, 'runtime', grantTo);
    if (grantReaderTo !== undefined) await grant(em, database, 'reader', grantReaderTo);
    return { applied: applied.map(({ name }) => name), leftToRun: await leftToRun(em, database) };
  });
}

async function grant(
  em: EntityManager,
  { migrations }: Database,
  kind: 'runtime' | 'reader',
  role: string,
): Promise<void> {
  if (!(await roles(em)).includes(role)) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `role does not exist: ${JSON.stringify(role)} (wanted one to grant to)`,
      hint: `Create it first: CREATE ROLE "${role}" LOGIN.`,
      details: { role },
    });
  }
  for (const statement of [...migrations.grantsFor(kind, role), ...grantEmbeddingsSql()]) await em.execute(statement);
}

async function leftToRun(em: EntityManager, { migrations }: Database): Promise<readonly string[]> {
  return migrations.missingRoleStatements(await roles(em));
}

async function roles(em: EntityManager): Promise<string[]> {
  const rows = await em.execute<{ name: string }[]>('select rolname as name from pg_catalog.pg_roles');
  return rows.map(({ name }) => name);
}
