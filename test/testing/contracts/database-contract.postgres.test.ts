import pg from 'pg';
import { beforeAll } from 'vitest';
import { PoolSource } from '../../../adapters/databases/pool-source.ts';
import { postgres } from '../../../adapters/databases/postgres.ts';
import type { ConnectOptions, DatabaseAdapter } from '../../../persistence/database.contract.ts';
import { databaseContract } from '../../../testing/contracts/database-contract.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { eachCaseCanFail } from './broken-cases.ts';
import { overWire, sending, type WireChange } from './broken-database.ts';

let url: string;

beforeAll(async () => {
  ({ url } = await freshDatabase());
});

const suite = (make: () => DatabaseAdapter) => databaseContract({ kind: 'postgres', make });

function wire(change: WireChange) {
  const open = async (options: ConnectOptions) =>
    new PoolSource({ ...options, pool: new pg.Pool({ connectionString: url }), isOwn: true });
  return () => suite(() => overWire(postgres(url), open, change));
}

/** An adapter that is good for one connection. */
function once(): DatabaseAdapter {
  let isUsed = false;
  const sound = postgres(url);
  return {
    kind: 'postgres',
    connect(options) {
      if (isUsed) throw new Error('it is connected');
      isUsed = true;
      return sound.connect(options);
    },
  };
}

const ofServers = ['connects a second time', 'lets a session’s second', 'tells a connection that broke'];
const titles = suite(() => postgres(url))
  .map(({ title }) => title)
  .filter((title) => ofServers.some((start) => title.startsWith(start)));

// The other cases are those of PGlite, and each is shown there.
eachCaseCanFail(titles, {
  'connects a second time meanwhile, to the same database': () => suite(once),
  'lets a session’s second transaction wait for its lock, and read what the first one wrote': wire(
    sending((sql) => sql.replace('pg_advisory_xact_lock', 'pg_try_advisory_xact_lock')),
  ),
  'tells a connection that broke, and goes on with another one': wire(({ send }) => ({
    send: (sql, values) =>
      send(sql, values).catch(() => {
        throw new Error('it did not work');
      }),
  })),
});
