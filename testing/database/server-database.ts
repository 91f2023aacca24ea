import { setImmediate as turn } from 'node:timers/promises';
import pg from 'pg';
import { postgres } from '../../adapters/databases/postgres.ts';
import { columnReader } from '../../adapters/databases/read-column.ts';
import { systemEnvironment } from '../../environment.ts';
import { resolveLimits } from '../../limits.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';
import { migrate } from '../../persistence/migrate.ts';
import { toTurnlockError } from '../../persistence/sqlstate.ts';
import { countedClient, type Told } from './counted-client.ts';
import { CONNECT_MS, databaseOfItsOwn, type OwnDatabase } from './database-of-its-own.ts';
import {
  emptyingSql,
  type KitDatabase,
  type Life,
  type Stir,
  TABLES_OF_RUNS,
  TABLES_OF_USERS,
} from './kit-database.contract.ts';
import { ServerSlot } from './server-slot.ts';
import { Traffic } from './traffic.ts';

/** The time of everything of ours is the kit's: the row of its clock holds it, in microseconds, in place of an offset. Each
 * statement reads what is committed. */
const OWN_CLOCK = `CREATE OR REPLACE FUNCTION turnlock.turnlock_now() RETURNS timestamptz LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp' AS $$
  SELECT to_timestamp(offset_ms::float8 / 1000000) FROM turnlock.turnlock_clock $$`;

const SET_CLOCK = `INSERT INTO turnlock.turnlock_clock (clock_id, offset_ms) VALUES (1, $1)
  ON CONFLICT (clock_id) DO UPDATE SET offset_ms = EXCLUDED.offset_ms`;

/** Of a role that may not turn triggers off: what refuses to cut a table would refuse to empty it between two runs. */
const LET_CUT = `DO $$ DECLARE guard record; BEGIN
  FOR guard IN SELECT tgname, tgrelid::regclass AS guarded FROM pg_trigger WHERE tgname = 'guard_truncate' LOOP
    EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', guard.guarded, guard.tgname);
  END LOOP;
END $$`;

const WAITING = `SELECT count(*)::int AS waiting FROM pg_stat_activity
  WHERE pid = ANY ($1) AND state = 'active' AND wait_event_type = 'Lock'`;

const END = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid = ANY ($1) AND datname = current_database()`;

/** Milliseconds after which a statement without an answer may be waiting for a lock: then the server is asked. */
const SLOW_MS = 10;

/** Milliseconds after which the server has ended every wait for a lock, and every statement. */
const ENDED_MS = 20_000;

/** Connections of one process: two sessions that commit, a heartbeat, and one to spare. */
export const MOST_CONNECTIONS = 4;

/**
 * Makes a database of the kit's own on the server of `url`, migrated, with the kit's clock; `prepare` makes tables of the user's in it.
 *
 * @throws as {@link databaseOfItsOwn}; what `prepare` throws. Nothing is left behind then.
 */
export async function openServerKitDatabase(
  url: string,
  prepare?: (query: KitDatabase['query']) => Promise<void>,
): Promise<ServerKitDatabase> {
  const own = await databaseOfItsOwn(url);
  const database = new ServerKitDatabase(url, own);
  try {
    await database.migrate();
    await database.prepare(prepare);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Several processes on one server, each with connections of its own, which break when it is killed. */
export class ServerKitDatabase implements KitDatabase {
  readonly kind = 'postgres';
  readonly isHeld = false;
  readonly isGivenUp = false;
  readonly #own: OwnDatabase;
  readonly #traffic = new Traffic();
  readonly #poolOptions: pg.PoolConfig;
  /** The kit's own connections. */
  readonly #kit: pg.Pool;
  #slots: ServerSlot[] = [];
  #used = 0;
  #runs = 0;
  #tables: { ours: string[]; users: string[] } = { ours: [], users: [] };
  #mayTurnOff = false;

  constructor(url: string, own: OwnDatabase) {
    this.#own = own;
    this.#poolOptions = {
      connectionString: url,
      application_name: 'turnlock-kit',
      connectionTimeoutMillis: CONNECT_MS,
      max: MOST_CONNECTIONS,
      idleTimeoutMillis: 0,
      allowExitOnIdle: true, // a harness that nobody closes keeps no process alive
    };
    this.#kit = this.#newPool(new Traffic()).pool;
  }

  /** Migrates it, and takes its clock in hand. Called once. */
  async migrate(): Promise<void> {
    const database = await postgres(this.#kit).connect({ environment: systemEnvironment, limits: resolveLimits() });
    await migrate(database).finally(() => database.close());
    await this.query(OWN_CLOCK);
    const [role] = await this.query('SELECT rolsuper FROM pg_roles WHERE rolname = current_user');
    this.#mayTurnOff = role.rolsuper;
    if (!this.#mayTurnOff) await this.query(LET_CUT);
  }

  /** Makes the user's tables. What the server refuses of it is thrown as the server says it: it is nothing of ours. Called once, after {@link migrate}. */
  async prepare(prepare?: (query: KitDatabase['query']) => Promise<void>): Promise<void> {
    await prepare?.((text, values) => this.#send(text, values));
    const names = (rows: { name: string }[]) => rows.map(({ name }) => name);
    this.#tables = { ours: names(await this.query(TABLES_OF_RUNS)), users: names(await this.query(TABLES_OF_USERS)) };
  }

  mortalAdapter(life: Life): ReturnType<KitDatabase['mortalAdapter']> {
    const slot = this.#slots[this.#used] ?? new ServerSlot(this.#newPool(this.#traffic));
    this.#slots[this.#used] = slot;
    this.#used += 1;
    slot.life = life;
    const adapter: DatabaseAdapter = { kind: 'postgres', connect: ({ limits }) => slot.connect(limits) };
    return { adapter, destroy: () => this.#end(slot.breakAll()), present: () => slot.present };
  }

  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  async query(text: string, values: unknown[] = []): Promise<any[]> {
    try {
      return await this.#send(text, values);
    } catch (error) {
      throw isWrong(error) ? error : toTurnlockError(error);
    }
  }

  async setNow(ms: number): Promise<void> {
    await this.query(SET_CLOCK, [Math.round(ms * 1_000)]);
  }

  async settled(): Promise<Stir> {
    for (;;) {
      // What was answered goes on, and asks again: in the turn that is under way or, by way of the pool, in the next one.
      await turn();
      await turn();
      if (!this.#traffic.isUnderWay) return 'atRest';
      if (await this.#traffic.endsWithin(SLOW_MS)) continue;
      if (await this.#isBlocked()) return 'blocked';
    }
  }

  unblocked(): Promise<boolean> {
    return this.#traffic.endsWithin(ENDED_MS);
  }

  async keepIn(): Promise<null> {
    return null;
  }

  async reset(): Promise<void> {
    while ((await this.settled()) === 'blocked') await this.#end(this.#slots.flatMap((slot) => slot.breakAll()));
    const left = this.#slots.filter((slot) => slot.isHeld);
    for (const slot of left) await this.#end(slot.giveUp());
    this.#slots = this.#slots.filter((slot) => !left.includes(slot));
    await this.settled();
    this.#used = 0;
    this.#runs += 1;
    const { ours, users } = this.#tables;
    await this.query(
      this.#mayTurnOff
        ? emptyingSql(this.#tables, this.#runs)
        : `TRUNCATE ${[...ours, ...users].join(', ')} RESTART IDENTITY`,
    );
  }

  async close(): Promise<void> {
    try {
      for (const slot of this.#slots) await slot.close();
      await this.#kit.end();
    } finally {
      await this.#own.drop();
    }
  }

  /** Ends the server's ends of connections that broke: what they had under way is rolled back, also what waits for a lock. */
  async #end(backends: readonly number[]): Promise<void> {
    if (backends.length === 0) return;
    const ended = this.query(END, [backends]).catch(() => undefined); // a server that is away has none of them
    this.#traffic.during({ backend: null }, ended);
    await ended;
  }

  /** Whether each of those that are under way waits for a lock. */
  async #isBlocked(): Promise<boolean> {
    const { backends, ended } = this.#traffic;
    if (backends === null) return false;
    const [{ waiting }] = await this.query(WAITING, [backends]);
    return waiting === new Set(backends).size && this.#traffic.ended === ended;
  }

  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  async #send(text: string, values: unknown[] = []): Promise<any[]> {
    return (await this.#kit.query({ text, values, types: { getTypeParser: columnReader as never } })).rows;
  }

  #newPool(traffic: Traffic): { pool: pg.Pool; told: Told } {
    const told: Told = { traffic, answered: null };
    const pool = new pg.Pool({ ...this.#poolOptions, Client: countedClient(this.#own.name, told) });
    pool.on('error', () => undefined); // a connection that ends while nobody has it
    return { pool, told };
  }
}

/** Whether the statement itself is what is wrong, as the server says: a name that it does not know, or its grammar. */
function isWrong(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && code.startsWith('42');
}
