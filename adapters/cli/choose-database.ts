import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TurnlockError } from '../../errors.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';
import { pglite } from '../databases/pglite.ts';
import { postgres } from '../databases/postgres.ts';
import { refusedUrl } from '../databases/refused-url.ts';

/**
 * The database that a URL or a folder names. A folder without a database is refused where the command would only read: a slip of the
 * pen must not make one.
 *
 * @throws DATA_DIRECTORY_INVALID when `mustExist` and there is none.
 * @throws OPTIONS_INVALID for a URL of another kind.
 */
export function chooseDatabase(place: string, { mustExist }: { mustExist: boolean }): DatabaseAdapter {
  if (/^postgres(ql)?:\/\//.test(place)) return postgres(place);
  const url = refusedUrl(place);
  if (url !== null) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `database not accepted: ${url} (wanted postgres:// or a folder)`,
      hint: 'A folder with a colon in its name is written with ./ before it.',
    });
  }
  const folder = resolve(place.replace(/^file:\/\//, ''));
  if (mustExist && !existsSync(join(folder, 'PG_VERSION'))) {
    throw new TurnlockError('DATA_DIRECTORY_INVALID', {
      message: `database does not exist: ${folder} (found ${existsSync(folder) ? 'no database in it' : 'nothing'}, wanted a folder of PGlite)`,
      hint: 'Check the path; `turnlock migrate --database FOLDER` makes a new one.',
      details: { folder },
    });
  }
  return pglite(folder);
}
