import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { Environment, FaultPoint } from '../../environment.ts';
import { TurnlockError } from '../../errors.ts';
import type { ToolQuery, ToolQueryResult } from '../../persistence/database.contract.ts';
import { commitUnknown, isDefiniteAbort, leavesConnectionUsable } from './commit-answer.ts';
import type { LentConnection, Wire, WireAnswer } from './wire.contract.ts';

/**
 * The one way in which a transaction of ours begins. The isolation level is named, whatever server, role or pool default to. Without
 * notices of warnings a commit that the standby never confirmed would look like any other; times are read as ISO, bytes as hex. The
 * time-outs of the role do not count from here on: the statement that comes next sets ours.
 */
const BEGIN = [
  'begin isolation level read committed read write',
  'set local statement_timeout to 0',
  'set local idle_in_transaction_session_timeout to 0',
  'set local client_min_messages to warning',
  'set local datestyle to iso',
  'set local bytea_output to hex',
].join('; ');

/** Commands whose tag counts rows changed, not rows read. */
const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/**
 * Statements and transactions over one connection, for Kysely and so for MikroORM.
 *
 * BEGIN travels with the first statement, which saves a round trip. COMMIT is believed only when its tag says COMMIT. A connection whose
 * transaction ended in an unknown or broken state is given back as such, to be dropped.
 *
 * Fault points: what one throws is taken for a lost connection at that place. They cost nothing where they are inert.
 */
export class TransactionConnection implements DatabaseConnection {
  readonly #wire: Wire;
  readonly #environment: Environment;
  readonly #giveBack: LentConnection['giveBack'];
  #isOut = true;
  #state: 'idle' | 'announced' | 'open' = 'idle';
  #isBroken = false;
  #isUsedUp = false;
  #firstError: unknown;

  constructor({ wire, giveBack }: LentConnection, environment: Environment) {
    this.#wire = wire;
    this.#giveBack = giveBack;
    this.#environment = environment;
  }

  /** Gives the connection back where it came from. Repeating it does nothing. */
  release(): void {
    if (!this.#isOut) return;
    this.#isOut = false;
    this.#giveBack({ isBroken: this.#isBroken || this.#isUsedUp || this.#state === 'open' });
  }

  /** Nobody gets this connection after the one who has it. Its transaction goes on. */
  dropWhenReleased(): void {
    this.#isUsedUp = true;
  }

  async begin(): Promise<void> {
    await this.#fault('beforeBegin', 'begin');
    this.#state = 'announced';
    this.#firstError = undefined;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const answer = await this.#execute(sql, parameters);
    const numAffectedRows =
      CHANGES.has(answer.command) && answer.rowCount !== null ? BigInt(answer.rowCount) : undefined;
    await this.#fault('afterStatement', sql);
    return { rows: answer.rows as Row[], ...(numAffectedRows === undefined ? {} : { numAffectedRows }) };
  }

  /** One statement of a tool inside the transaction, as node-postgres would carry it out. */
  async query(query: ToolQuery): Promise<ToolQueryResult> {
    const isFirst = this.#state === 'announced';
    if (isFirst) this.#state = 'open';
    let answer: ToolQueryResult;
    try {
      if (isFirst) await this.#wire.send(BEGIN);
      answer = await this.#wire.query(query);
    } catch (error) {
      this.#firstError ??= error;
      if (!leavesConnectionUsable(error)) this.#isBroken = true;
      throw error;
    }
    await this.#fault('afterStatement', query.text);
    return answer;
  }

  /** Whether the connection is of no use any more. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  async commit(): Promise<void> {
    await this.#fault('beforeCommit', 'commit');
    if (this.#state === 'announced') this.#state = 'idle';
    if (this.#state === 'idle') return;
    const answer = await this.#sendCommit();
    this.#state = 'idle';
    if (answer.command !== 'COMMIT') throw this.#rolledBack();
    if (answer.warned) throw this.#unknown('a warning before the answer');
    await this.#fault('afterCommit', 'commit', () => this.#unknown('a lost connection after the answer'));
  }

  /** Ends the transaction without a trace. It never fails: where it cannot, the connection is broken, which ends it too. */
  async rollback(): Promise<void> {
    const isOpen = this.#state === 'open';
    this.#state = 'idle';
    if (!isOpen || this.#isBroken) return;
    await this.#wire.send('rollback').catch(() => {
      this.#isBroken = true;
    });
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator, and streams hold a connection for longer than a commit may
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new TurnlockError('INVARIANT_BROKEN', { message: 'query was refused: a stream (wanted a plain one)' });
  }

  async #execute(sql: string, values: readonly unknown[]): Promise<WireAnswer> {
    const isFirst = this.#state === 'announced';
    if (isFirst) this.#state = 'open';
    try {
      if (isFirst && values.length === 0) return await this.#wire.send(`${BEGIN}; ${sql}`);
      if (isFirst) await this.#wire.send(BEGIN);
      return await this.#wire.send(sql, values);
    } catch (error) {
      this.#firstError ??= error;
      if (!leavesConnectionUsable(error)) this.#isBroken = true;
      throw error;
    }
  }

  async #sendCommit(): Promise<WireAnswer> {
    const answer = this.#wire.send('commit');
    answer.catch(() => undefined); // it may fail while the fault point still waits
    await this.#fault('commitSent', 'commit', (cause) => this.#unknown('a lost connection before the answer', cause));
    try {
      return await answer;
    } catch (error) {
      if (!isDefiniteAbort(error)) throw this.#unknown('no answer', error);
      this.#state = 'idle'; // the server has rolled back
      throw error;
    }
  }

  /** COMMIT of a failed transaction answers ROLLBACK without an error: somebody went on after a statement had failed. */
  #rolledBack(): unknown {
    if (this.#firstError !== undefined) return this.#firstError;
    return new TurnlockError('DATABASE_FAILED', {
      message: 'transaction was rolled back: COMMIT (found ROLLBACK, wanted COMMIT)',
    });
  }

  #unknown(found: string, cause?: unknown): TurnlockError {
    this.#isBroken = true;
    return commitUnknown(found, cause);
  }

  async #fault(point: FaultPoint, sql: string, translate = (error: unknown): unknown => error): Promise<void> {
    try {
      const passed = this.#environment.faultPoint(point, new StatementInfo(sql));
      if (passed !== undefined) await passed;
    } catch (error) {
      this.#isBroken = true;
      this.#firstError ??= error;
      throw translate(error);
    }
  }
}

/** The statement without its literals, which are cut out only when somebody looks. */
class StatementInfo {
  readonly #sql: string;

  constructor(sql: string) {
    this.#sql = sql;
  }

  get statement(): string {
    return this.#sql.replaceAll(/'(?:[^']|'')*'/g, '?');
  }
}
