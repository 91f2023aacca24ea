import type { Pool, PoolClient } from 'pg';
import type { Environment } from '../../environment.ts';
import { connectError, noConnectionInTime } from './connect-error.ts';
import { PoolWire } from './pool-wire.ts';
import type { ConnectionSource, LentConnection } from './wire.contract.ts';

/** Where connections come from, and how long may be waited for one. */
export interface PoolSourceOptions {
  pool: Pool;
  /** Whether the pool was made by us, and ends with the database. */
  isOwn: boolean;
  environment: Environment;
  connectTimeoutMs: number;
}

/** Lends the connections of a pool of node-postgres. Errors of idle clients are no news: the pool has dropped them by then. */
export class PoolSource implements ConnectionSource {
  readonly #options: PoolSourceOptions;
  #isClosed = false;

  constructor(options: PoolSourceOptions) {
    this.#options = options;
    options.pool.on('error', ignore);
  }

  async borrow(): Promise<LentConnection> {
    const wire = new PoolWire(await this.#connect());
    return { wire, giveBack: (state) => wire.release(state) };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { pool, isOwn } = this.#options;
    if (isOwn)
      await pool.end(); // and keeps the listener: connections that are ending may still fail
    else pool.removeListener('error', ignore);
  }

  /** A pool of ours bounds the wait itself; the user's may be set to wait for ever. */
  async #connect(): Promise<PoolClient> {
    const { pool, environment, connectTimeoutMs } = this.#options;
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
      (late) => late.release(),
      () => undefined,
    );
    throw noConnectionInTime(pool, connectTimeoutMs);
  }

  async #tryConnect(): Promise<PoolClient> {
    const { pool } = this.#options;
    try {
      return await pool.connect();
    } catch (error) {
      throw connectError(pool, error);
    }
  }
}

function ignore(): void {}
