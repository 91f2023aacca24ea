import { beforeAll, describe } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { databaseContract } from '../../testing/contracts/database-contract.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { contractTests } from '../testing/contracts/contract-tests.ts';

describe('a server behind PgBouncer in transaction mode, with three connections', () => {
  let url: string;

  beforeAll(async () => {
    const database = await freshDatabase({ toleratesOpenConnections: true }); // those that PgBouncer keeps
    const bouncer = await startPgbouncer(database.url, 3);
    url = bouncer.through(database.url);
  });

  contractTests(databaseContract({ kind: 'postgres', make: () => postgres(url) }));
});
