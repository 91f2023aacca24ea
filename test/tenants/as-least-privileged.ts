import { beforeAll } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { type MigrateOptions, migrate } from '../../persistence/migrate.ts';
import { connect } from '../adapters/databases/connect.ts';
import { freshRole } from '../adapters/databases/fresh-role.ts';
import type { RuntimeDatabase } from '../support/runtime-database.ts';

/**
 * The file's database as a role sees it that was given what `turnlock migrate --grant-to` gives, and nothing else. `query` stays the
 * owner's.
 */
export function withRole(database: () => RuntimeDatabase): () => RuntimeDatabase {
  return granted(database, (name) => ({ grantTo: name }));
}

/** The same for a role that may only look (`turnlock migrate --grant-reader-to`), with the rights of `also` beside that. */
export function withReader(database: () => RuntimeDatabase, also?: string): () => RuntimeDatabase {
  return granted(database, (name) => ({ grantReaderTo: name }), also);
}

function granted(
  database: () => RuntimeDatabase,
  rightsOf: (name: string) => MigrateOptions,
  also?: string,
): () => RuntimeDatabase {
  let asRole: RuntimeDatabase;
  beforeAll(async () => {
    const { name, url } = await freshRole(database().url);
    await migrate(await connect(postgres(database().url)), rightsOf(name));
    if (also !== undefined) await database().query(`GRANT ${also} TO ${name}`);
    asRole = { ...database(), url, adapter: () => postgres({ connectionString: url, max: 4 }) };
  });
  return () => asRole;
}
