import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isTurnlockError, TurnlockError } from '../../errors.ts';
import type { RuntimeOptions } from '../../runtime/create-runtime.ts';

/** What a configuration file exports: the options of `createRuntime`, without those that the command line gives. */
export type Config = Partial<RuntimeOptions>;

/** Names that are looked for, in this order. */
export const CONFIG_NAMES = ['turnlock.config.ts', 'turnlock.config.js', 'turnlock.config.mjs'] as const;

/** The configuration file of `folder`, or `null` when it has none. */
export function findConfig(folder: string): string | null {
  return CONFIG_NAMES.map((name) => resolve(folder, name)).find((file) => existsSync(file)) ?? null;
}

/**
 * Loads `file` and takes its default export.
 *
 * @throws CONFIG_INVALID when there is no such file, it cannot be loaded, or it exports something else.
 */
export async function readConfig(file: string): Promise<Config> {
  if (!existsSync(file)) throw refuse(file, 'no file', 'a file');
  const { default: config } = await load(file);
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw refuse(file, config === undefined ? 'no default export' : `a default export of ${typeof config}`, 'options');
  }
  const { database, agents } = config as Config;
  if (database !== undefined && typeof database?.connect !== 'function') {
    throw refuse(file, 'another database', 'pglite(…) or postgres(…)');
  }
  if (agents !== undefined && !Array.isArray(agents)) throw refuse(file, 'other agents', 'an array of agents');
  return config as Config;
}

async function load(file: string): Promise<{ default?: unknown }> {
  try {
    const loaded = (await import(pathToFileURL(file).href)) as { default?: unknown };
    return { default: await loaded.default };
  } catch (cause) {
    if (isTurnlockError(cause)) throw cause;
    const found = cause instanceof Error ? `${cause.name}: ${cause.message.split('\n', 1)[0]}` : String(cause);
    throw refuse(file, found, 'a module that can be loaded', cause);
  }
}

function refuse(file: string, found: string, wanted: string, cause?: unknown): TurnlockError {
  return new TurnlockError('CONFIG_INVALID', {
    message: `configuration not accepted: ${file} (found ${found}, wanted ${wanted})`,
    details: { file },
    cause,
  });
}
