import type { Database, MigrationSet } from './database.contract.ts';

/** Two numbers, so that it can meet no session's lock, which are one. "turn", "mig1". */
const LOCK = '1953854062, 1835624241';

/**
 * Waits for every other migration of this database. A migration may take its time, whatever the role's time-outs are, and what its
 * statements call is the server's, whatever stands in the role's path.
 */
export function takeMigrationLockSql(): string[] {
  return [
    'set local search_path to pg_catalog, pg_temp',
    'set local standard_conforming_strings to on',
    'set local lock_timeout to 0',
    'set local statement_timeout to 0',
    'set local idle_in_transaction_session_timeout to 0',
    `select pg_catalog.pg_advisory_xact_lock(${LOCK})`,
  ];
}

/**
 * Makes schema and table of the migrator, exactly as MikroORM makes its table. CREATE … IF NOT EXISTS would ask for the right on the
 * database even where the schema exists.
 */
export function migrationsTableSql(schema: string): string[] {
  return [
    `do $$ begin
  if to_regnamespace('${schema}') is null then create schema ${schema}; end if;
  if to_regclass('${schema}.migrations') is null then
    create table ${schema}.migrations (
      id serial primary key,
      name varchar(255) not null,
      executed_at timestamptz(6) not null default current_timestamp(6)
    );
  end if;
end $$`,
  ];
}

/** Everything that an up-to-date schema needs, as one script for psql. For people who let nobody but themselves change a schema. */
export function migrationSql({ schema, migrations }: Pick<Database, 'schema' | 'migrations'>): string {
  return script([
    'begin isolation level read committed read write',
    ...takeMigrationLockSql(),
    ...migrationsTableSql(schema),
    ...migrations.migrations.flatMap((migration) => recorded(schema, migration)),
    'commit',
  ]);
}

function recorded(schema: string, { name, statements }: MigrationSet['migrations'][number]): string[] {
  return [...statements, `insert into ${schema}.migrations (name) values ('${name}')`];
}

function script(statements: readonly string[]): string {
  return statements.map((statement) => `${statement};\n`).join('\n');
}
