import { CompiledQuery, type DatabaseConnection, type Driver } from 'kysely';
import type { Environment } from '../../environment.ts';
import { TransactionConnection } from './transaction-connection.ts';
import type { ConnectionSource } from './wire.contract.ts';

/** What Kysely, and through it MikroORM, asks of a database: connections, and transactions on them. */
export class TransactionDriver implements Driver {
  readonly #source: ConnectionSource;
  readonly #environment: Environment;

  constructor(source: ConnectionSource, environment: Environment) {
    this.#source = source;
    this.#environment = environment;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new TransactionConnection(await this.#source.borrow(), this.#environment);
  }

  /** Kysely's isolation level is not looked at: there is one way to begin. */
  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await own(connection).begin();
    } catch (error) {
      own(connection).release(); // Kysely forgets a connection on which no transaction could begin
      throw error;
    }
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await own(connection).commit();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await own(connection).rollback();
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint ${quoted(name)}`));
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`rollback to savepoint ${quoted(name)}`));
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release savepoint ${quoted(name)}`));
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    own(connection).release();
  }

  async destroy(): Promise<void> {
    await this.#source.close();
  }
}

function own(connection: DatabaseConnection): TransactionConnection {
  return connection as TransactionConnection;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
