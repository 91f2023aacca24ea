import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type Environment, systemEnvironment } from '../../environment.ts';
import { isTurnlockError, type TurnlockError } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Database, DatabaseAdapter } from '../../persistence/database.contract.ts';
import { migrate } from '../../persistence/migrate.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { toTurnlockError } from '../../persistence/sqlstate.ts';
import { Finding, must, shown } from './contract-broken.ts';

/** Rows of a table of ours that no tenant has: one for each mark that a case makes. */
const TABLE = 'agent_tool_versions';

/** How the cases of a suite come to their database. */
export interface DatabaseTrials {
  /** Opens a new adapter's database for `work`. */
  open: (
    work: (trial: DatabaseTrial) => Promise<void>,
    faultPoint?: Parameters<typeof DatabaseTrial.open>[2],
  ) => Promise<void>;
  make: () => Promise<DatabaseAdapter>;
  patienceMs: number;
}

/** A database that is open for the length of a case. */
export class DatabaseTrial {
  readonly database: Database;
  readonly store: Store;

  constructor(database: Database, environment: Environment) {
    this.database = database;
    this.store = { database, environment, limits: LIMITS };
  }

  /** Opens what `adapter` leads to, migrated, and closes it when `work` has ended. */
  static async open<Result>(
    adapter: DatabaseAdapter,
    work: (trial: DatabaseTrial) => Promise<Result>,
    faultPoint: Environment['faultPoint'] = () => undefined,
  ): Promise<Result> {
    const environment = { ...systemEnvironment, faultPoint };
    const database = await adapter.connect({ environment, limits: LIMITS });
    try {
      await migrate(database);
      return await work(new DatabaseTrial(database, environment));
    } finally {
      await database.close();
    }
  }

  /** An entity manager of its own. */
  em(): EntityManager {
    return this.database.orm.em.fork({ clear: true }) as EntityManager;
  }

  /** Rows of one statement, outside any transaction. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  async rows(sql: string, values: readonly unknown[] = []): Promise<any[]> {
    return await this.em().execute(sql, values);
  }

  /** Does `work` in one transaction, and commits it; what goes wrong is told as the runtime tells it. */
  async transaction<Result>(work: (em: EntityManager) => Promise<Result>): Promise<Result> {
    const em = this.em();
    try {
      await em.begin();
      try {
        const result = await work(em);
        await em.commit();
        return result;
      } catch (error) {
        await em.rollback();
        throw error;
      }
    } catch (error) {
      throw toTurnlockError(error);
    }
  }

  /** The error with which a transaction ends. */
  async failure(work: (em: EntityManager) => Promise<unknown>): Promise<unknown> {
    const nothing = Symbol('no error');
    const thrown = await this.transaction(work).then(
      () => nothing,
      (error: unknown) => error,
    );
    if (thrown instanceof Finding) throw thrown; // what the work saw, and not how it ended
    must(thrown !== nothing, 'no error');
    return thrown;
  }

  /** Does `work` in a transaction that is rolled back, as by an error of its own. */
  async rolledBack(work: (em: EntityManager) => Promise<void>): Promise<void> {
    const own = new Error('the work failed');
    const thrown = await this.failure(async (em) => {
      await work(em);
      throw own;
    });
    if (thrown !== own) throw thrown;
  }

  /** The error with which a transaction ends, of Turnlock and with that SQLSTATE in its details. */
  async refusal(work: (em: EntityManager) => Promise<unknown>, sqlState: string): Promise<TurnlockError> {
    const thrown = await this.failure(work);
    must(isTurnlockError(thrown), `no error of the database: ${shown(thrown)}`);
    must(
      thrown.details.sqlState === sqlState,
      `SQLSTATE ${shown(thrown.details.sqlState)} for ${sqlState}: ${shown(thrown)}`,
    );
    return thrown;
  }

  /** A name that no row has. */
  newMark(): string {
    return `contract-${randomUUID()}`;
  }

  /** Writes a row of that name. */
  async mark(em: EntityManager, name: string): Promise<void> {
    const columns = 'agent_name, tool_name, tool_version, schema_digest';
    const sql = `insert into ${this.#table} (${columns}) values ('contract', ?, 1, ?)`;
    await em.execute(sql, [name, '0'.repeat(64)]);
  }

  /** How many rows have that name, or begin with it, as `em` sees them; by default as they are committed. */
  async marks(name: string, em: EntityManager = this.em()): Promise<number> {
    const sql = `select count(*)::int as count from ${this.#table} where starts_with(tool_name, ?)`;
    const [row] = (await em.execute(sql, [name])) as [{ count: number }];
    return row.count;
  }

  get #table(): string {
    return `${this.database.schema}.${TABLE}`;
  }
}
