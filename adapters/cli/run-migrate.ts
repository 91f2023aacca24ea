import { TurnlockError } from '../../errors.ts';
import { type MigrateResult, migrate } from '../../persistence/migrate.ts';
import { migrationSql } from '../../persistence/migrate-sql.ts';
import { migrationSet } from '../databases/migration-set.ts';
import { freeLeases, withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { warnOn } from './with-runtime.ts';

/** What `turnlock migrate` takes. */
export interface MigrateOptions {
  check?: boolean;
  sql?: boolean;
  grantTo?: string;
  grantReaderTo?: string;
}

const SCHEMA = 'turnlock';

/** Does what `turnlock migrate` says. */
export async function runMigrate(options: SharedOptions & MigrateOptions): Promise<void> {
  const terminal = openTerminal(options);
  if (options.check && (options.sql || options.grantTo !== undefined || options.grantReaderTo !== undefined)) {
    throw excluded('--check');
  }
  if (options.sql) printSql(terminal, options);
  else await migrateDatabase(options, terminal);
}

async function migrateDatabase(options: SharedOptions & MigrateOptions, terminal: Terminal): Promise<void> {
  const settings = await readSettings(options, { agents: false, mustExist: options.check === true });
  await withStore(
    settings,
    async (store) => {
      const mode = options.check ? 'check' : 'up';
      const result = await migrate(store.database, {
        mode,
        ...(options.grantTo === undefined ? {} : { grantTo: options.grantTo }),
        ...(options.grantReaderTo === undefined ? {} : { grantReaderTo: options.grantReaderTo }),
      });
      await freeLeases(store);
      print(terminal, result, options);
    },
    { schema: 'any', onWarning: warnOwner(terminal) },
  );
}

/** Only the owner of the tables can migrate, and no policy holds an owner: that is no news here. */
function warnOwner(terminal: Terminal): ReturnType<typeof warnOn> {
  const warn = warnOn(terminal);
  return (warning) => (warning.code === 'RLS_BYPASSED' ? undefined : warn(warning));
}

function print(
  terminal: Terminal,
  { applied, leftToRun }: MigrateResult,
  { grantTo, grantReaderTo }: MigrateOptions,
): void {
  const { green, yellow } = terminal.colours;
  terminal.json({
    upToDate: true,
    applied,
    grantedTo: grantTo ?? null,
    readerGrantedTo: grantReaderTo ?? null,
    leftToRun,
  });
  if (applied.length === 0) terminal.line(green('The schema is up to date.'));
  for (const name of applied) terminal.line(`${green('applied')} ${name}`);
  if (grantTo !== undefined) terminal.line(`${green('granted')} the rights of a runtime`);
  if (grantReaderTo !== undefined) terminal.line(`${green('granted')} the rights of who only reads`);
  if (leftToRun.length === 0) return;
  terminal.line(yellow('This role may not do everything. One that may create roles has to run:'));
  for (const statement of leftToRun) terminal.line(`${statement};`);
}

function printSql(terminal: Terminal, { grantTo, grantReaderTo }: MigrateOptions): void {
  const migrations = migrationSet(SCHEMA);
  const grants = [
    ...(grantTo === undefined ? [] : migrations.grantsFor('runtime', grantTo)),
    ...(grantReaderTo === undefined ? [] : migrations.grantsFor('reader', grantReaderTo)),
  ].map((statement) => `${statement};\n`);
  const sql = [migrationSql({ schema: SCHEMA, migrations }), ...grants].join('\n');
  terminal.json({ sql });
  terminal.line(sql.trimEnd());
}

function excluded(option: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `${option} stands alone: it changes and prints nothing else`,
  });
}
