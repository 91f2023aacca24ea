import type { EntityManager } from '@mikro-orm/postgresql';
import { type DatabaseConnection, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { ToolQuery, ToolTransaction } from '../../persistence/database.contract.ts';
import { control, ToolConnection } from './tool-connection.ts';
import type { TransactionConnection } from './transaction-connection.ts';
import { TransactionDriver } from './transaction-driver.ts';

/** What a driver of ours is asked for within the transaction of a tool. */
class ToolDriver extends TransactionDriver {
  readonly #connection: ToolConnection;

  constructor(connection: ToolConnection) {
    super(null as never, null as never);
    this.#connection = connection;
  }

  override acquireConnection = async (): Promise<DatabaseConnection> => this.#connection;
  override beginTransaction = async (): Promise<void> => undefined;
  override releaseConnection = async (): Promise<void> => undefined;
  override destroy = async (): Promise<void> => undefined;
  override commitTransaction = async (): Promise<void> => {
    throw control('COMMIT');
  };
  override rollbackTransaction = async (): Promise<void> => {
    throw control('ROLLBACK');
  };
}

/**
 * The transaction of `em` as a transactional tool gets it. `base` is the entity manager whose entities it knows: the program's own where
 * it handed its MikroORM in.
 */
export async function toolTransaction(em: EntityManager, base: EntityManager): Promise<ToolTransaction> {
  const outer = em.getTransactionContext<never>() as unknown as Kysely<unknown>;
  const inner = await outer.getExecutor().provideConnection(async (connection) => connection as TransactionConnection);
  const connection = new ToolConnection(inner);
  const kysely = new Kysely<unknown>({
    dialect: {
      createDriver: () => new ToolDriver(connection),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    },
  });
  const own = base.fork({ clear: true }) as EntityManager;
  own.setTransactionContext((await kysely.startTransaction().execute()) as never);
  return {
    em: own,
    query: (query: ToolQuery) => connection.query(query),
    close: () => connection.close(),
    get firstError() {
      return connection.firstError;
    },
    get isBroken() {
      return connection.isBroken;
    },
  };
}
