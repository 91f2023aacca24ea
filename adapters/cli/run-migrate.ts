import { TurnlockError } from '../../errors.ts';
import type { EmbeddingSettings } from '../../persistence/memory/embedding-settings.ts';
import { makeEmbeddings } from '../../persistence/memory/make-embeddings.ts';
import { type MigrateResult, migrate } from '../../persistence/migrate.ts';
import { migrationSql } from '../../persistence/migrate-sql.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { mismatch } from '../../runtime/memory/open-vectors.ts';
import { migrationSet } from '../databases/migration-set.ts';
import { escapeText } from './escape-text.ts';
import { type EmbeddingOptions, embeddingOf, isEmbeddingAsked } from './memory/embedding-of.ts';
import { extensionMissing } from './memory/extension-missing.ts';
import { freeLeases, withStore } from './open-store.ts';
import { readSettings, type Settings } from './read-settings.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { warnOn } from './with-runtime.ts';

/** What `turnlock migrate` takes. */
export interface MigrateOptions extends EmbeddingOptions {
  check?: boolean;
  sql?: boolean;
  grantTo?: string;
  grantReaderTo?: string;
}

const SCHEMA = 'turnlock';

/** Does what `turnlock migrate` says. */
export async function runMigrate(options: SharedOptions & MigrateOptions): Promise<void> {
  const terminal = openTerminal(options);
  const makesEmbeddings = isEmbeddingAsked(options);
  const grants = options.grantTo !== undefined || options.grantReaderTo !== undefined;
  if (options.check && (options.sql || grants || makesEmbeddings)) throw excluded('--check');
  if (options.sql && makesEmbeddings) throw excluded('--embedding-dimensions');
  if (options.sql) printSql(terminal, options);
  else await migrateDatabase(options, terminal);
}

async function migrateDatabase(options: SharedOptions & MigrateOptions, terminal: Terminal): Promise<void> {
  const settings = await readSettings(options, {
    agents: isEmbeddingAsked(options),
    mustExist: options.check === true,
  });
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
      const embeddings = isEmbeddingAsked(options) ? await makeAsked(store, settings, options) : null;
      print(terminal, { ...result, embeddings }, options);
    },
    { schema: 'any', onWarning: warnOwner(terminal) },
  );
}

/** @throws EMBEDDING_MISMATCH, DATABASE_UNSUPPORTED. */
async function makeAsked(store: Store, settings: Settings, options: EmbeddingOptions): Promise<EmbeddingSettings> {
  const wanted = embeddingOf(settings, options);
  const made = await makeEmbeddings(store.database, wanted);
  if (made.outcome === 'unavailable') throw extensionMissing();
  if (made.outcome === 'differs') throw mismatch(made.settings, wanted);
  return made.settings;
}

/** Only the owner of the tables can migrate, and no policy holds an owner: that is no news here. */
function warnOwner(terminal: Terminal): ReturnType<typeof warnOn> {
  const warn = warnOn(terminal);
  return (warning) => (warning.code === 'RLS_BYPASSED' ? undefined : warn(warning));
}

function print(
  terminal: Terminal,
  { applied, leftToRun, embeddings }: MigrateResult & { embeddings: EmbeddingSettings | null },
  { grantTo, grantReaderTo }: MigrateOptions,
): void {
  const { green, yellow } = terminal.colours;
  terminal.json({
    upToDate: true,
    applied,
    grantedTo: grantTo ?? null,
    readerGrantedTo: grantReaderTo ?? null,
    embeddings,
    leftToRun,
  });
  if (applied.length === 0) terminal.line(green('The schema is up to date.'));
  for (const name of applied) terminal.line(`${green('applied')} ${name}`);
  if (grantTo !== undefined) terminal.line(`${green('granted')} the rights of a runtime`);
  if (grantReaderTo !== undefined) terminal.line(`${green('granted')} the rights of who only reads`);
  if (embeddings !== null) {
    const { modelId, dimensions } = embeddings;
    terminal.line(`${green('vectors')} of ${dimensions} dimensions of ${escapeText(modelId)} are kept`);
  }
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
