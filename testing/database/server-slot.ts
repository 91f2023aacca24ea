import type pg from 'pg';
import { postgres } from '../../adapters/databases/postgres.ts';
import type { Environment } from '../../environment.ts';
import type { ConnectOptions, Database } from '../../persistence/database.contract.ts';
import { backendOf, breakConnection } from './counted-client.ts';
import type { Life } from './kit-database.contract.ts';

type Borrow = (callback: (error?: Error, client?: pg.PoolClient, done?: () => void) => void) => void;

/** A pool and a MikroORM, which one process after the other has: opening one takes longer than a run. */
export class ServerSlot {
  /** The process that has it. */
  life!: Life;
  readonly #pool: pg.Pool;
  readonly #clients = new Set<pg.PoolClient>();
  #database: Promise<Database> | null = null;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    pool.on('connect', (client) => this.#clients.add(client));
    pool.on('remove', (client) => this.#clients.delete(client));
    this.#lendToTheLiving();
  }

  /** What a runtime is given; closing it leaves the slot open for the next process. */
  async connect(limits: ConnectOptions['limits']): Promise<Database> {
    this.#database ??= postgres(this.#pool).connect({ environment: this.#environment(), limits });
    return { ...(await this.#database), close: async () => undefined };
  }

  /** Whether somebody has a connection of it. */
  get isHeld(): boolean {
    return this.#pool.totalCount > this.#pool.idleCount;
  }

  /** Breaks every connection of it: the numbers of the server's processes at their other ends. */
  breakAll(): number[] {
    const clients = [...this.#clients];
    for (const client of clients) breakConnection(client);
    return clients.flatMap((client) => backendOf(client) ?? []);
  }

  /** The same for good: whoever has a connection of it keeps it for ever, so the pool never ends. */
  giveUp(): number[] {
    this.#pool.end().catch(() => undefined);
    return this.breakAll();
  }

  /** Closes it. */
  async close(): Promise<void> {
    await (await this.#database?.catch(() => undefined))?.close();
    if (this.isHeld) this.giveUp();
    else await this.#pool.end();
  }

  /** A process that is paused, or dead, takes no connection. */
  #lendToTheLiving(): void {
    const connect = this.#pool.connect.bind(this.#pool) as unknown as Borrow;
    const borrow: Borrow = (callback) => {
      const asking = this.life;
      void asking.alive().then(() =>
        connect((error, client, done) => {
          if (client === undefined || !asking.isPaused) return callback(error, client, done);
          client.release();
          borrow(callback);
        }),
      );
    };
    this.#pool.connect = borrow as unknown as pg.Pool['connect'];
  }

  #environment(): Environment {
    return {
      now: () => this.life.environment.now(),
      monotonic: () => this.life.environment.monotonic(),
      uuid: () => this.life.environment.uuid(),
      random: () => this.life.environment.random(),
      sleep: (ms, signal) => this.life.environment.sleep(ms, signal),
      faultPoint: (point, info) => this.life.environment.faultPoint(point, info),
    };
  }
}
