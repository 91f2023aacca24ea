import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import type { Environment } from '../../environment.ts';
import { migrationsFor } from '../../migrations/index.ts';
import { allEntities } from '../../persistence/entities/all-entities.ts';
import { OwnDriver } from './own-driver.ts';
import { transactionDialect } from './transaction-dialect.ts';
import type { ConnectionSource } from './wire.contract.ts';

/** What our MikroORM is opened with. */
export interface OrmOptions {
  source: ConnectionSource;
  environment: Environment;
  schema: string;
}

/**
 * Our own MikroORM over the given connections, for a server and for PGlite alike. It is shut off from the user's: another context name
 * (theirs may run a transaction around ours), no MIKRO_ORM_ variable for what matters, no file is read or written, nothing is logged.
 */
export async function openOrm({ source, environment, schema }: OrmOptions): Promise<MikroORM> {
  return await MikroORM.init({
    driver: OwnDriver,
    driverOptions: () => transactionDialect(source, environment),
    entities: [...allEntities],
    entitiesTs: [],
    dbName: 'turnlock',
    clientUrl: 'postgresql://127.0.0.1:5432/turnlock',
    schema,
    contextName: 'turnlock',
    context: () => undefined,
    ensureDatabase: false,
    ensureIndexes: false,
    implicitTransactions: true,
    allowGlobalContext: false,
    forceUtcTimezone: true,
    timezone: 'Z',
    preferTs: false,
    debug: false,
    colors: false,
    logger: () => undefined,
    metadataCache: { enabled: false },
    extensions: [Migrator],
    migrations: {
      tableName: `${schema}.migrations`,
      migrationsList: migrationsFor({ schema }),
      transactional: true,
      allOrNothing: true,
      disableForeignKeys: false,
      silent: true,
      snapshot: false,
      snapshotOnMigrate: false,
    },
  });
}
