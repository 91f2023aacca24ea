import { resolve } from 'node:path';
import { TurnlockError } from '../../errors.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';
import { chooseDatabase } from './choose-database.ts';
import { CONFIG_NAMES, type Config, findConfig, readConfig } from './read-config.ts';
import type { SharedOptions } from './shared-options.ts';

/** What a command works with: the configuration, with the database that was chosen. */
export type Settings = Config & {
  database: DatabaseAdapter;
  /** The URL or folder of the database; absent where the configuration brings it. */
  place?: string;
};

/** What a command needs. */
export interface SettingsNeeded {
  /** Whether it runs agents. Where not, and the database is named, no configuration is loaded unless asked for. */
  agents: boolean;
  /** Whether the database must be there already. */
  mustExist: boolean;
  /** Folder of an embedded database where nothing names one. Default: that is refused. */
  fallback?: string;
}

/**
 * Database and agents: `--database`, then TURNLOCK_DATABASE_URL, then the configuration say where; `--config`, then the current folder
 * say which configuration.
 *
 * @throws CONFIG_INVALID when nothing names a database, or the configuration cannot be used.
 */
export async function readSettings(
  options: SharedOptions,
  { agents, mustExist, fallback }: SettingsNeeded,
): Promise<Settings> {
  const place = options.database ?? (process.env.TURNLOCK_DATABASE_URL || undefined);
  const isConfigNeeded = agents || place === undefined || options.config !== undefined;
  const file = options.config === undefined ? findConfig(process.cwd()) : resolve(options.config);
  const config = isConfigNeeded && file !== null ? await readConfig(file) : {};
  const chosen = place ?? (config.database === undefined ? fallback : undefined);
  const database = chosen === undefined ? config.database : chooseDatabase(chosen, { mustExist });
  if (database === undefined) throw noDatabase(file);
  return { ...config, database, ...(chosen === undefined ? {} : { place: chosen }) };
}

function noDatabase(file: string | null): TurnlockError {
  const found = file === null ? `no ${CONFIG_NAMES.join(', ')} in ${process.cwd()}` : `no database in ${file}`;
  return new TurnlockError('CONFIG_INVALID', {
    message: `no database is named (found ${found}, no --database, no TURNLOCK_DATABASE_URL)`,
    hint: 'Pass --database URL_OR_FOLDER, set TURNLOCK_DATABASE_URL, or export the options of createRuntime from turnlock.config.ts.',
  });
}
