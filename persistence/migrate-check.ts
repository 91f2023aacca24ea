import type { EntityManager } from '@mikro-orm/postgresql';
import { type ErrorCode, TurnlockError } from '../errors.ts';
import type { Database } from './database.contract.ts';

/** How the check is made. */
export interface CheckOptions {
  /** Whose transaction reads; absent: a connection of its own. */
  em?: EntityManager;
  /** Codes that are found and not thrown. Default none. */
  tolerates?: readonly ErrorCode[];
}

/**
 * Compares the recorded migrations with those of this build.
 *
 * @throws SCHEMA_MISSING, SCHEMA_OUTDATED, SCHEMA_TOO_NEW when they differ, PRIVILEGE_MISSING when the role may not look.
 */
export async function compareSchema(database: Database, { em, tolerates = [] }: CheckOptions = {}): Promise<void> {
  const recorded = em === undefined ? await readAlone(database) : await readRecorded(em, database.schema);
  const error = compare(database, recorded);
  if (error !== null && !tolerates.includes(error.code)) throw error;
}

function compare({ schema, migrations }: Database, recorded: readonly string[]): TurnlockError | null {
  const known = migrations.migrations.map(({ name }) => name);
  const unknown = recorded.filter((name) => !known.includes(name));
  const pending = known.filter((name) => !recorded.includes(name));
  if (unknown.length > 0) {
    return differs(
      'SCHEMA_TOO_NEW',
      `schema is newer than this build: ${schema} (found ${unknown.at(-1)}, wanted ${known.at(-1)})`,
      { unknown },
    );
  }
  if (recorded.length === 0) {
    return differs('SCHEMA_MISSING', `schema is missing: ${schema} (found no migration, wanted ${known.at(-1)})`, {
      pending,
    });
  }
  if (pending.length > 0) {
    return differs(
      'SCHEMA_OUTDATED',
      `schema is older than this build: ${schema} (found ${recorded.at(-1)}, wanted ${known.at(-1)})`,
      { pending },
    );
  }
  return null;
}

/** In a transaction, whose settings are ours and not the role's. */
async function readAlone({ orm, schema }: Database): Promise<string[]> {
  return await orm.em.fork({ clear: true }).transactional(async (em) => {
    await em.execute('set local search_path to pg_catalog, pg_temp');
    return await readRecorded(em as EntityManager, schema);
  });
}

/** The catalogs are asked first: a name in a statement would fail with the schema missing, and end the transaction. */
async function readRecorded(em: EntityManager, schema: string): Promise<string[]> {
  const [table] = await em.execute<{ readable: boolean }[]>(
    `select has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT') as readable
       from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ? and c.relname = 'migrations'`,
    [schema],
  );
  if (table === undefined) return [];
  if (!table.readable) {
    throw differs('PRIVILEGE_MISSING', `schema may not be read: ${schema}.migrations (wanted the right to SELECT)`, {
      schema,
    });
  }
  const rows = await em.execute<{ name: string }[]>(`select name from ${schema}.migrations order by id`);
  return rows.map(({ name }) => name);
}

function differs(code: ErrorCode, message: string, details: Record<string, unknown>): TurnlockError {
  return new TurnlockError(code, { message, details });
}
