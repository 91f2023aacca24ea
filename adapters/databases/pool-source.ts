import type { Pool, PoolClient } from 'pg';
import type { Environment } from '../../environment.ts';
import type { Limits } from '../../limits.ts';
import { connectError, endedByOwner, noConnectionInTime } from './connect-error.ts';
import { PoolWire } from './pool-wire.ts';
import type { ConnectionSource, LentConnection } from './wire.contract.ts';

/** Where connections come from, and how long may be waited for one. */
export interface PoolSourceOptions {
  pool: Pool;
  /** Whether the pool was made by us, and ends with the database. */
  isOwn: boolean;
  environment: Environment;
  limits: Pick<Limits, 'connectTimeoutMs' | 'lockTimeoutMs' | 'statementTimeoutMs'>;
}

/** How much later than the server's own time-outs an answer may come, in milliseconds. Then the connection is dead. */
const ANSWER_SLACK_MS = 2_000;

/**
 * Lends the connections of a pool of node-postgres. Errors of idle clients are no news: the pool has dropped them by then.
 *
 * A connection can die without a word, and then the server's time-outs reach nobody: what it should have answered by then counts as lost.
 * Where one has died the others that have been idle since may have died with it: none of them is lent again.
 */
export class PoolSource implements ConnectionSource {
  readonly #options: PoolSourceOptions;
  readonly #answeredAt = new WeakMap<PoolClient, number>();
  #suspectUntil = Number.NEGATIVE_INFINITY;
  #unhurried = 0;
  #isClosed = false;

  constructor(options: PoolSourceOptions) {
    this.#options = options;
    options.pool.on('error', ignore);
  }

  async borrow(): Promise<LentConnection> {
    const client = await this.#connectAfresh();
    const wire = new PoolWire(client, () => this.#answerTimeoutMs());
    return { wire, giveBack: (state) => this.#takeBack(client, wire, state) };
  }

  /** While `work` runs answers may take as long as they take. */
  async unhurried<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#unhurried += 1;
    try {
      return await work();
    } finally {
      this.#unhurried -= 1;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { pool, isOwn } = this.#options;
    if (isOwn)
      await pool.end(); // and keeps the listener: connections that are ending may still fail
    else pool.removeListener('error', ignore);
  }

  #answerTimeoutMs(): number {
    const { lockTimeoutMs, statementTimeoutMs } = this.#options.limits;
    return this.#unhurried > 0 ? 0 : Math.max(lockTimeoutMs, statementTimeoutMs) + ANSWER_SLACK_MS;
  }

  #takeBack(client: PoolClient, wire: PoolWire, state: { isBroken: boolean }): void {
    const now = this.#options.environment.monotonic();
    if (wire.isSilent) this.#suspectUntil = now;
    else this.#answeredAt.set(client, now);
    wire.release(state);
    client.removeListener('error', ignore);
  }

  /** A connection that is new, or was used since another one died without a word. */
  async #connectAfresh(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#connect();
      if ((this.#answeredAt.get(client) ?? Number.POSITIVE_INFINITY) > this.#suspectUntil) return client;
      client.release(true);
      client.removeListener('error', ignore);
    }
  }

  /** A pool of ours bounds the wait itself; the user's may be set to wait for ever. */
  async #connect(): Promise<PoolClient> {
    const { pool, environment } = this.#options;
    const { connectTimeoutMs } = this.#options.limits;
    if (pool.options.connectionTimeoutMillis) return await this.#tryConnect();
    const waiting = new AbortController();
    const connecting = this.#tryConnect().finally(() => waiting.abort());
    const outOfTime = environment.sleep(connectTimeoutMs, waiting.signal).then(
      () => 'outOfTime' as const,
      () => undefined,
    );
    const first = await Promise.race([connecting, outOfTime]);
    if (first !== 'outOfTime') return await connecting;
    connecting.then(
      (late) => {
        late.release();
        late.removeListener('error', ignore);
      },
      () => undefined,
    );
    throw noConnectionInTime(pool, connectTimeoutMs);
  }

  async #tryConnect(): Promise<PoolClient> {
    const { pool, isOwn } = this.#options;
    if (!isOwn && (pool.ended || pool.ending)) throw endedByOwner('a pool of node-postgres');
    try {
      return await new Promise((resolve, reject) => {
        pool.connect((error, client) => {
          // At once: the server may say goodbye in the same packet that let us in, and the pool listens no more.
          client?.on('error', ignore);
          if (client === undefined) reject(error);
          else resolve(client);
        });
      });
    } catch (error) {
      throw connectError(pool, error);
    }
  }
}

function ignore(): void {}
