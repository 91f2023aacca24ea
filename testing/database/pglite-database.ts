import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { makeFolder } from '../../adapters/databases/make-folder.ts';
import { loadPglite } from '../../adapters/databases/open-pglite.ts';
import { pglite } from '../../adapters/databases/pglite.ts';
import { type Environment, systemEnvironment } from '../../environment.ts';
import { resolveLimits } from '../../limits.ts';
import type { ConnectOptions, Database, DatabaseAdapter } from '../../persistence/database.contract.ts';
import { migrate } from '../../persistence/migrate.ts';
import {
  emptyingSql,
  type KitDatabase,
  type Life,
  type Stir,
  TABLES_OF_RUNS,
  TABLES_OF_USERS,
} from './kit-database.contract.ts';

/** Small buffers: a new instance clears them all, which with the default of 128 MB is most of the time that it takes. */
const SMALL = ['shared_buffers=4MB', 'wal_buffers=1MB'].flatMap((setting) => ['-c', setting]);

/** The time of everything of ours, as the kit says it: it stands still between two jumps. */
const OWN_CLOCK = `CREATE OR REPLACE FUNCTION turnlock.turnlock_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT to_timestamp(current_setting('turnlock_kit.now_ms')::float8 / 1000) $$`;

const CLOCK_OF_THE_SCHEMA = `SELECT pg_get_functiondef('turnlock.turnlock_now()'::regprocedure) AS text`;

const GO_ON_AT = `UPDATE turnlock.turnlock_clock SET offset_ms = extract(epoch FROM $1::timestamptz - clock_timestamp()) * 1000`;

/** One way into the instance, which one process after the other has: opening a MikroORM takes longer than a run. */
interface Slot {
  readonly database: Database;
  life: Life;
}

/**
 * A PGlite in memory of one's own, migrated, with the clock of the kit; `prepare` makes tables of the user's in it.
 *
 * @throws what `prepare` throws. Nothing is open then.
 */
export async function openPgliteKitDatabase(
  prepare?: (query: KitDatabase['query']) => Promise<void>,
): Promise<PgliteKitDatabase> {
  const { PGlite } = await loadPglite();
  const { dataDir } = await import('@electric-sql/pglite-prepopulatedfs');
  const instance = await PGlite.create({
    loadDataDir: await dataDir(),
    startParams: [...PGlite.defaultStartParams, ...SMALL],
  });
  try {
    const database = await pglite({ instance }).connect({ environment: systemEnvironment, limits: resolveLimits() });
    await migrate(database);
    await database.close();
    const [clock] = (await instance.query<{ text: string }>(CLOCK_OF_THE_SCHEMA)).rows;
    await instance.exec(OWN_CLOCK);
    await prepare?.(async (text, values) => (await instance.query(text, values)).rows);
    const names = async (statement: string) =>
      (await instance.query<{ name: string }>(statement)).rows.map(({ name }) => name);
    const tables = { ours: await names(TABLES_OF_RUNS), users: await names(TABLES_OF_USERS) };
    return new PgliteKitDatabase(instance, tables, clock?.text ?? '');
  } catch (error) {
    await instance.close(); // its timers keep the process alive
    throw error;
  }
}

/** Several processes on one PGlite: each has its own MikroORM and its own faults, all share the one connection. */
export class PgliteKitDatabase implements KitDatabase {
  readonly kind = 'pglite';
  readonly #instance: PGlite;
  readonly #tables: Parameters<typeof emptyingSql>[0];
  readonly #clock: string;
  readonly #slots: Slot[] = [];
  isGivenUp = false;
  #used = 0;
  #runs = 0;
  #holders = 0;

  /** `clock`: how the schema defines its clock, which the kit has in hand here. */
  constructor(instance: PGlite, tables: Parameters<typeof emptyingSql>[0], clock: string) {
    this.#instance = instance;
    this.#tables = tables;
    this.#clock = clock;
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  mortalAdapter(life: Life): ReturnType<KitDatabase['mortalAdapter']> {
    const adapter: DatabaseAdapter = {
      kind: 'pglite',
      connect: async ({ limits }) => {
        const slot = this.#slots[this.#used] ?? (await this.#open(life, limits));
        this.#slots[this.#used] = slot;
        this.#used += 1;
        slot.life = life;
        return { ...slot.database, close: async () => undefined };
      },
    };
    return { adapter, destroy: async () => undefined, present: () => null };
  }

  async query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.#instance.query<Record<string, unknown>>(text, values)).rows;
  }

  async setNow(ms: number): Promise<void> {
    await this.#instance.exec(`SET turnlock_kit.now_ms = '${ms}'`);
  }

  async settled(): Promise<Stir> {
    return 'atRest';
  }

  async unblocked(): Promise<boolean> {
    return false;
  }

  /** The copy has the schema's own clock, which goes on where the run ended. */
  async keepIn(parent: string): Promise<string | null> {
    if (this.isHeld) return null;
    await makeFolder(parent);
    const folder = await mkdtemp(join(parent, 'run-'));
    const { PGlite } = await loadPglite();
    const [clock] = await this.query('SELECT turnlock.turnlock_now() AS now');
    const copy = await PGlite.create({ dataDir: folder, loadDataDir: await this.#instance.dumpDataDir('none') });
    try {
      await copy.exec(this.#clock);
      await copy.query(GO_ON_AT, [clock?.now]);
    } finally {
      await copy.close();
    }
    return folder;
  }

  /** Nobody of the run before goes on: every process of it is dead by then, so its way in is free. */
  async reset(): Promise<void> {
    this.isGivenUp ||= this.isHeld;
    if (this.isGivenUp) return;
    this.#used = 0;
    this.#runs += 1;
    await this.#instance.exec(emptyingSql(this.#tables, this.#runs));
  }

  async close(): Promise<void> {
    if (!this.#instance.closed) await this.#instance.close();
  }

  async #open(life: Life, limits: ConnectOptions['limits']): Promise<Slot> {
    const slot: { database: Database | null; life: Life } = { database: null, life };
    const environment: Environment = {
      now: () => slot.life.environment.now(),
      monotonic: () => slot.life.environment.monotonic(),
      uuid: () => slot.life.environment.uuid(),
      random: () => slot.life.environment.random(),
      sleep: (ms, signal) => slot.life.environment.sleep(ms, signal),
      faultPoint: (point, info) => slot.life.environment.faultPoint(point, info),
    };
    const instance = livingOnly(this.#instance, slot, (change) => {
      this.#holders += change;
    });
    slot.database = await pglite({ instance }).connect({ environment, limits });
    return slot as Slot;
  }
}

type Exclusive = PGlite['_runExclusiveTransaction'];

const LATER: unique symbol = Symbol('it was paused meanwhile');

/** `instance` for one process: while that is paused it takes the one connection from nobody. `count` is told who has it. */
function livingOnly(instance: PGlite, slot: { life: Life }, count: (change: 1 | -1) => void): PGlite {
  const exclusively = async (work: Parameters<Exclusive>[0]): Promise<unknown> => {
    for (;;) {
      await slot.life.alive();
      const came = await instance._runExclusiveTransaction<unknown>(async () => {
        if (slot.life.isPaused) return LATER;
        count(1);
        try {
          return await work();
        } finally {
          count(-1);
        }
      });
      if (came !== LATER) return came;
    }
  };
  return new Proxy(instance, {
    get(target, name) {
      if (name === '_runExclusiveTransaction') return exclusively;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
