import { resolve } from 'node:path';
import type { Extensions, PGlite } from '@electric-sql/pglite';
import { TurnlockError } from '../../errors.ts';
import { refusedUrl } from './refused-url.ts';

/** Where PGlite keeps its rows. */
export interface PgliteOptions {
  /** Directory that holds the rows, made where it is missing. Absent: they live in memory and end with the process. */
  directory?: string;
  /** Extensions of PGlite to load, `vector` for example. Without it memory searches by text alone. */
  extensions?: Extensions;
  /** A PGlite that the program has already, with rows wherever it was told. Never closed by us; excludes the other options. */
  instance?: PGlite;
}

const OPTIONS = ['directory', 'extensions', 'instance'];

/**
 * `given` with its directory as an absolute path.
 *
 * @throws OPTIONS_INVALID for options that exclude each other, or a place that Node cannot keep files in.
 */
export function pgliteOptions(given: string | PgliteOptions | undefined): PgliteOptions {
  if (given !== undefined && typeof given !== 'string' && (typeof given !== 'object' || given === null)) {
    throw refuse(given === null ? 'null' : typeof given, 'a directory or options');
  }
  const options = typeof given === 'string' ? { directory: given } : { ...given };
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  // A misspelt directory would be a database in memory.
  if (unknown !== undefined) throw refuse(`an option ${JSON.stringify(unknown)}`, `only ${OPTIONS.join(', ')}`);
  const { directory, instance } = options;
  if (directory !== undefined && typeof directory !== 'string') {
    throw refuse(`a directory that is ${directory === null ? 'null' : `of type ${typeof directory}`}`, 'a path');
  }
  if (instance !== undefined && (directory !== undefined || options.extensions !== undefined)) {
    throw refuse('an instance and other options', 'one of the two');
  }
  if (directory === undefined || directory === 'memory://')
    return { ...options, directory: undefined } as PgliteOptions;
  if (directory === '') throw refuse('an empty directory name', 'a path, or nothing for memory');
  const url = refusedUrl(directory);
  if (url !== null) throw refuse(url, 'a path');
  return { ...options, directory: resolve(directory.replace(/^file:\/\//, '')) };
}

function refuse(found: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `database not accepted: pglite() (found ${found}, wanted ${wanted})`,
  });
}
