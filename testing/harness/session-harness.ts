import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { scripted } from '../../adapters/models/scripted.ts';
import { isTurnlockError, TurnlockError } from '../../errors.ts';
import { checkOptions } from '../../runtime/check-options.ts';
import type { Runtime } from '../../runtime/create-runtime.ts';
import { type Agent, defineAgent } from '../../runtime/define-agent.ts';
import { BEGIN_MS } from '../clock/virtual-clock.ts';
import type { KitDatabase } from '../database/kit-database.contract.ts';
import { isPlayedOn, type LentDatabase, lendDatabase } from '../database/lend-database.ts';
import { readSeen } from '../invariants/read-seen.ts';
import { TransactionHolder } from '../play/transaction-holder.ts';
import type { SeenExecution } from '../subject.ts';
import { HarnessClock } from './harness-clock.ts';
import { HarnessProcess, type HarnessStart } from './harness-process.ts';
import { type BrokenPromise, readBrokenPromises } from './read-broken-promises.ts';

/** What {@link openSessionHarness} takes. */
export interface SessionHarnessOptions {
  /**
   * A PGlite of this Node process, in memory, which nobody else has until `close`; or a database of its own, made on the server of `url` and
   * dropped by `close`, on which transactions of several processes overlap. Default: PGlite.
   */
  database?: 'pglite' | { url: string };
  /** Makes tables of your own, once; `reset` empties them. Default: none. */
  prepare?: (query: (text: string, values?: unknown[]) => Promise<unknown[]>) => Promise<void>;
  /** What the clock says at first. Default: in the morning of 2030-01-01. */
  startsAt?: Date;
  /** Ids and chance of all processes follow from it; a whole number from 0 on. Default 1. */
  seed?: number;
}

const OPTIONS = ['database', 'prepare', 'startsAt', 'seed'];
const START = ['agents', 'faults', 'limits'];

/** A migrated database, a clock, and processes on them that a test starts, kills and looks into. Made by {@link openSessionHarness}. */
export interface SessionHarness extends AsyncDisposable {
  /** The one clock of the database and of all processes: it stands still between two jumps. */
  readonly clock: Pick<HarnessClock, 'now' | 'monotonic' | 'sleep'>;
  /**
   * Starts a process: a runtime on this database with faults of its own. Several may live at once.
   *
   * @throws OPTIONS_INVALID for a fault that there is not, or that would keep the one connection of PGlite. RUNTIME_CLOSED where the harness is
   * reset or closed meanwhile. What `createRuntime` throws.
   */
  start<const Agents extends readonly Agent[]>(options: HarnessStart<Agents>): Promise<ProcessOfHarness<Agents>>;
  /**
   * Resolves once nothing goes on by itself any more: who sleeps waits for a jump, and so does who only looks whether another process goes on
   * (`result`, `follow`). What tools wait for outside is not waited for.
   *
   * @throws NEVER_RESTS where a tool or a model is at work again and again.
   */
  quiet(): Promise<void>;
  /**
   * Once it is quiet, moves the clock at once by so many milliseconds, for the database too; resolves once it is quiet again.
   *
   * @throws OPTIONS_INVALID for what is no number of milliseconds from 0 on, or leads past the last time that a `Date` has. NEVER_RESTS as
   * of {@link quiet}.
   */
  jump(ms: number): Promise<void>;
  /** Rows of a statement, past every runtime, as the owner of the tables. A time is a `Date` on PGlite, and text on a server. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  query(text: string, values?: unknown[]): Promise<any[]>;
  /** Every execution of every session, as committed: what invariants of the kit look at. */
  executions(): Promise<SeenExecution[]>;
  /**
   * The promises of Turnlock's own that do not hold, of those which the rows of a system at rest can show: work that is owed counts as one.
   * Empty where all hold.
   */
  promises(): Promise<BrokenPromise[]>;
  /** Kills every process and removes what they left; clock, ids and numbers of processes begin anew. */
  reset(): Promise<void>;
  /** Kills every process and gives the database back. Everything else rejects with RUNTIME_CLOSED then; calling it again changes nothing. */
  close(): Promise<void>;
}

/** A process of a harness. */
export type ProcessOfHarness<Agents extends readonly Agent[]> = Pick<
  HarnessProcess<Agents>,
  'number' | 'runtime' | 'plan'
> & {
  /** Kills it: nothing of it has any effect from here on, and what it owes is answered to nobody. */
  crash(): Promise<void>;
};

/** Turns of the event loop in which nothing happens, until it counts as quiet. */
const STILL_TURNS = 4;

/** So often whoever sleeps for a moment goes on, and nobody does more than look, until it counts as quiet: what fails is tried again after a moment, too. */
const LOOKS = 5;

/** What follows from one jump takes fewer turns than this. */
const MAX_STEPS = 2_000;

/** And in it processes act less often than this. */
const MAX_ACTS = 10_000;

/** Milliseconds of real time after which whoever holds the one connection counts as hanging. */
const PATIENCE_MS = 50;

/**
 * Opens a session harness: a database of its own, a clock that stands still, and processes that crash where a test says so. Ids and chance
 * follow from the seed. Opening the first one of a Node process takes seconds, each further one on the same database a moment.
 *
 * On PGlite one connection is shared, and one seed gives the same ids; on a server processes race, as in production.
 *
 * @throws OPTIONS_INVALID for an option that is not accepted, or where PGlite is not installed. DATABASE_UNREACHABLE, PRIVILEGE_MISSING of a
 * server, on which nothing is left then. What `prepare` throws.
 * @example
 * await using harness = await openSessionHarness();
 * const { runtime, plan } = await harness.start({ agents: [support], faults: 'crash at commitSent #2' });
 */
export async function openSessionHarness(options: SessionHarnessOptions = {}): Promise<SessionHarness> {
  const {
    database = 'pglite',
    prepare,
    startsAt = new Date(BEGIN_MS),
    seed = 1,
  } = checkShape(checkOptions(options, 'openSessionHarness', OPTIONS));
  const harness = new Harness(startsAt.getTime(), seed, lendDatabase(database, prepare));
  await harness.open();
  return harness;
}

/** Who only looks has an agent because every runtime has one. */
const ONLOOKER = defineAgent({ name: 'onlooker', instructions: 'Look.', model: scripted('I only look.') });

class Harness implements SessionHarness {
  readonly clock: HarnessClock;
  readonly #seed: number;
  readonly #lent: LentDatabase;
  readonly #processes: HarnessProcess<never>[] = [];
  #database!: KitDatabase;
  #number = 0;
  #isClosed = false;
  /** Looks into sessions where no fault strikes it. */
  #onlooker: Promise<HarnessProcess> | undefined;
  #holder = new TransactionHolder();

  constructor(startsAt: number, seed: number, lent: LentDatabase) {
    this.clock = new HarnessClock(startsAt, () => this.#acts);
    this.#seed = seed;
    this.#lent = lent;
  }

  async open(): Promise<void> {
    try {
      this.#database = await this.#lent.next();
      await this.#database.setNow(this.clock.now());
    } catch (error) {
      await this.#lent.end();
      throw error;
    }
  }

  async start<const Agents extends readonly Agent[]>(options: HarnessStart<Agents>): Promise<ProcessOfHarness<Agents>> {
    this.#inUse();
    this.#number += 1;
    const process = await this.#open(this.#number, checkOptions(options, 'start', START));
    const { number, runtime, plan } = process;
    return { number, runtime, plan, crash: () => process.kill() };
  }

  async quiet(): Promise<void> {
    this.#inUse();
    await this.#rest();
  }

  async jump(ms: number): Promise<void> {
    this.#inUse();
    checkJump(ms, this.clock.now());
    await this.#rest();
    this.clock.jump(ms);
    const isSet = this.#database.setNow(this.clock.now());
    if (!this.#database.isHeld) await isSet;
    // Else whoever has the one connection may be waiting for its time to be over; it is set as soon as that lets go of it.
    isSet.catch(() => undefined);
    await this.#rest();
  }

  /** Resolves once nothing goes on by itself. */
  async #rest(): Promise<void> {
    const endHold = this.clock.hold();
    try {
      await this.#untilStill();
    } finally {
      endHold();
    }
  }

  async #untilStill(): Promise<void> {
    const most = this.#acts + MAX_ACTS;
    let before = { passed: -1, acts: -1 };
    for (let still = 0, looks = 0, held = 0, steps = 0; still < STILL_TURNS; steps += 1) {
      if (steps > MAX_STEPS) throw neverRests();
      await (this.clock.isBrief || held > 0 ? pause(1) : turn());
      await this.#database.settled();
      const passed = this.#processes.reduce((sum, process) => sum + process.passed, 0);
      const acts = this.#acts;
      if (acts > most) throw neverRests();
      const isAtWork = this.clock.wakeDue() || acts !== before.acts;
      const goesOn = isAtWork || passed !== before.passed;
      before = { passed, acts };
      held = this.#database.isHeld && !goesOn ? held + 1 : 0;
      const waits = held > 0 && held <= PATIENCE_MS;
      still = goesOn || waits ? 0 : still + 1;
      if (isAtWork) looks = 0;
      if ((waits || (still === STILL_TURNS && looks < LOOKS)) && this.clock.letOn()) {
        still = 0;
        looks += 1;
      }
    }
  }

  /** How often processes have acted. */
  get #acts(): number {
    return this.#processes.reduce((sum, { acts }) => sum + acts, 0);
  }

  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  async query(text: string, values: unknown[] = []): Promise<any[]> {
    return this.#inUse().query(text, values);
  }

  async promises(): Promise<BrokenPromise[]> {
    return readBrokenPromises(this.#inUse(), () => this.#look());
  }

  async executions(): Promise<SeenExecution[]> {
    return readSeen(this.#inUse());
  }

  async reset(): Promise<void> {
    this.#inUse();
    await this.#end();
    this.clock.restart();
    this.#holder = new TransactionHolder();
    await this.open();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#end();
    await this.#lent.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @throws RUNTIME_CLOSED once it was closed: its database is somebody else's by then. */
  #inUse(): KitDatabase {
    if (!this.#isClosed) return this.#database;
    throw new TurnlockError('RUNTIME_CLOSED', { message: 'session harness was closed' });
  }

  async #look(): Promise<Runtime> {
    this.#onlooker ??= this.#open(0, { agents: [ONLOOKER] });
    return (await this.#onlooker).runtime;
  }

  async #open<const Agents extends readonly Agent[]>(
    number: number,
    options: HarnessStart<Agents>,
  ): Promise<HarnessProcess<Agents>> {
    const { clock } = this;
    const ground = { database: this.#database, clock, holder: this.#holder };
    const process = new HarnessProcess<Agents>(number, this.#seed, ground);
    this.#processes.push(process as unknown as HarnessProcess<never>);
    const over = process.plan.lost.then(() => {
      throw new TurnlockError('RUNTIME_CLOSED', {
        message: 'session harness was reset or closed before the process was up',
      });
    });
    await Promise.race([process.start(options, clock, this.#database.kind === 'pglite'), over]);
    return process;
  }

  /** Kills every process, lets what they have in the database come to its end, and empties it. */
  async #end(): Promise<void> {
    for (const process of this.#processes) process.abandon();
    await this.#rest().catch((error: unknown) => {
      if (!isTurnlockError(error, 'NEVER_RESTS')) throw error;
    });
    this.#processes.length = 0;
    this.#number = 0;
    this.#onlooker = undefined;
    await this.#database.reset();
  }
}

/** @throws OPTIONS_INVALID for what would only break further in. */
function checkShape(options: SessionHarnessOptions): SessionHarnessOptions {
  const { database, prepare, startsAt, seed } = options;
  if (database !== undefined && !isPlayedOn(database)) throw refused('database', "'pglite' or { url }");
  if (prepare !== undefined && typeof prepare !== 'function') throw refused('prepare', 'a function that makes tables');
  if (startsAt !== undefined && !(startsAt instanceof Date && Number.isFinite(startsAt.getTime()))) {
    throw refused('startsAt', 'a Date');
  }
  if (seed !== undefined && !(Number.isSafeInteger(seed) && seed >= 0))
    throw refused('seed', 'a whole number from 0 on');
  return options;
}

/** @throws OPTIONS_INVALID for a jump after which no clock would say a time. */
function checkJump(ms: unknown, now: number): void {
  if (typeof ms === 'number' && ms >= 0 && Number.isFinite(new Date(now + ms).getTime())) return;
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `jump not accepted: ${inspect(ms)} (wanted milliseconds from 0 on, to a time that a Date has)`,
  });
}

function neverRests(): TurnlockError {
  return new TurnlockError('NEVER_RESTS', {
    message: `session harness does not come to rest: ${MAX_STEPS} turns or ${MAX_ACTS} acts, and processes are still at work`,
  });
}

function refused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: ${option} of openSessionHarness (wanted ${wanted})`,
  });
}
