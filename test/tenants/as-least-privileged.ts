import { beforeAll } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { migrate } from '../../persistence/migrate.ts';
import { connect } from '../adapters/databases/connect.ts';
import { freshRole } from '../adapters/databases/fresh-role.ts';
import type { RuntimeDatabase } from '../support/runtime-database.ts';

/**
 * The file's database as a role sees it that was given what `turnlock migrate --grant-to` gives, and nothing else. `query` stays the
 * owner's.
 */
export function withRole(database: () => RuntimeDatabase): () => RuntimeDatabase {
  let asRole: RuntimeDatabase;
  beforeAll(async () => {
    const { name, url } = await freshRole(database().url);
    await migrate(await connect(postgres(database().url)), { grantTo: name });
    asRole = { ...database(), url, adapter: () => postgres({ connectionString: url, max: 4 }) };
  });
  return () => asRole;
}
