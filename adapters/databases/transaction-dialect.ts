import { type Dialect, type Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { Environment } from '../../environment.ts';
import { TransactionDriver } from './transaction-driver.ts';
import type { ConnectionSource } from './wire.contract.ts';

/** PostgreSQL's dialect over our own connections: given to MikroORM in place of the one that it would make. */
export function transactionDialect(source: ConnectionSource, environment: Environment): Dialect {
  return {
    createDriver: () => new TransactionDriver(source, environment),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (kysely: Kysely<unknown>) => new PostgresIntrospector(kysely),
  };
}
