import { ToolError } from '../../adapters/tools/tool-error.ts';
import { type Environment, type FaultInfo, type FaultPoint, systemEnvironment } from '../../environment.ts';

/** What happens at a fault point. */
export type FaultKind =
  /** The process is gone: its connection breaks, and nothing of it has any effect from there on. */
  | 'crash'
  /** The process is paused as a whole, a zombie in the making, until `resume()`. */
  | 'stall'
  /** The connection breaks. At `commitSent`: COMMIT is on its way and its answer is lost. */
  | 'disconnect'
  /** The statement runs out of time. Around an effect: that place never goes on. */
  | 'timeout';

/** One passage of a fault point, or of a place in a user's own code. */
export interface Passage extends FaultInfo {
  point: FaultPoint | 'place';
  /** Name of the place, where it is one. */
  place?: string;
}

/** Where something happens, and what. */
export interface Fault {
  point: FaultPoint | 'place' | 'any';
  /** Name of a place; only its passages count. Default: all of the point. */
  place?: string;
  /** Which of the passages that match, from 1 on. Default 1. */
  occurrence?: number;
  /** Which passages count. Default: all of the point. */
  where?: (passage: Passage) => boolean;
  /** A function is what happens there. */
  fault: FaultKind | ((passage: Passage) => Promise<void> | void);
}

/** Thrown where a crashed process touches its database: it never gets further. */
export class SimulatedCrash extends Error {}

/** The points of a transaction. */
export const DATABASE_POINTS: ReadonlySet<Passage['point']> = new Set([
  'beforeBegin',
  'afterLock',
  'afterStatement',
  'beforeCommit',
  'commitSent',
  'afterCommit',
]);

/** Where a transaction is under way. */
const IN_TRANSACTION: ReadonlySet<Passage['point']> = new Set([
  'afterLock',
  'afterStatement',
  'beforeCommit',
  'commitSent',
]);

/** Of a process that goes on and on not every passage is kept. */
const KEPT_PASSAGES = 50_000;

const never = new Promise<never>(() => undefined);

/** How a {@link FaultPlan} differs from the ordinary; see its constructor. */
export interface FaultPlanOptions {
  endsTransactions?: boolean;
  isInTransaction?: (passage: Passage) => boolean;
  onStrike?: (fault: FaultKind, passage: Passage) => void;
}

/** An environment of one simulated process, in which the planned faults happen. */
export class FaultPlan implements Environment {
  /** The passages so far, oldest first; of more than 100,000 the newest, 50,000 at the least. */
  readonly passages: Passage[] = [];
  /** Resolves when a planned crash or stall has happened. */
  readonly struck: Promise<Passage>;
  /** Resolves when the process has crashed or is paused, whatever struck it before. */
  readonly lost: Promise<void>;
  #faults: { fault: Fault; seen: number }[];
  readonly #base: Environment;
  readonly #endsTransactions: boolean;
  readonly #isInTransaction: NonNullable<FaultPlanOptions['isInTransaction']>;
  readonly #onStrike: NonNullable<FaultPlanOptions['onStrike']>;
  readonly #dead = new AbortController();
  #paused: Promise<void> | null = null;
  #unpause: () => void = () => undefined;
  #strike: (passage: Passage) => void = () => undefined;
  #lose: () => void = () => undefined;

  /**
   * `endsTransactions`: what the process has under way in the database comes to its end before a stall holds it. Else the locks of a process that
   * is paused beside its own strike are only free once the server ends its transaction.
   * `onStrike`: told of every fault as it happens.
   * `isInTransaction`: whether an effect is part of a transaction, which the death of its process ends at once. Default: none is.
   */
  constructor(
    faults: readonly Fault[] = [],
    base: Environment = systemEnvironment,
    { endsTransactions = false, isInTransaction = () => false, onStrike = () => undefined }: FaultPlanOptions = {},
  ) {
    this.#faults = faults.map((fault) => ({ fault, seen: 0 }));
    this.#base = base;
    this.#endsTransactions = endsTransactions;
    this.#isInTransaction = isInTransaction;
    this.#onStrike = onStrike;
    this.struck = new Promise((resolve) => {
      this.#strike = resolve;
    });
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
  }

  get isCrashed(): boolean {
    return this.#dead.signal.aborted;
  }

  get isPaused(): boolean {
    return this.#paused !== null;
  }

  now = (): number => this.#base.now();
  monotonic = (): number => this.#base.monotonic();
  uuid = (): string => this.#base.uuid();
  random = (): number => this.#base.random();

  /** After a crash nobody wakes up any more, and no timer is left. */
  sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    if (this.isCrashed) return never;
    try {
      await this.#base.sleep(ms, AbortSignal.any([this.#dead.signal, ...(signal ? [signal] : [])]));
    } catch (error) {
      if (this.isCrashed) return never;
      throw error;
    }
    await this.#paused;
    if (this.isCrashed) return never;
  };

  faultPoint = (point: FaultPoint, { sessionId, executionId, statement, detail }: FaultInfo): Promise<void> | void => {
    const passage = Object.fromEntries(
      Object.entries({ point, sessionId, executionId, statement, detail }).filter(([, value]) => value !== undefined),
    ) as unknown as Passage;
    return this.#pass(passage);
  };

  /** A place in a user's own code, under the faults that are planned for it. */
  place = async (place: string, info: FaultInfo = {}): Promise<void> => this.#pass({ point: 'place', place, ...info });

  /** Plans one more fault; its passages count from now on. */
  arm(fault: Fault): void {
    this.#faults.push({ fault, seen: 0 });
  }

  /** Nothing more goes wrong. */
  disarm(): void {
    this.#faults = [];
  }

  #pass(passage: Passage): Promise<void> | void {
    const { point } = passage;
    if (this.isCrashed) return this.#leave(passage);
    this.passages.push(passage);
    if (this.passages.length > 2 * KEPT_PASSAGES) this.passages.splice(0, KEPT_PASSAGES);
    const due = this.#faults.filter(
      ({ fault }) =>
        (fault.point === 'any' || fault.point === point) &&
        (fault.place === undefined || fault.place === passage.place) &&
        (fault.where?.(passage) ?? true),
    );
    for (const entry of due) entry.seen += 1;
    const struck = due.find(({ fault, seen }) => seen === (fault.occurrence ?? 1));
    if (struck !== undefined) return this.#happen(struck.fault.fault, passage);
    if (this.#paused !== null && !(this.#endsTransactions && IN_TRANSACTION.has(point))) return this.#paused;
  }

  /** Something else than a fault point kills the process, for example a tool. Resolves never. */
  crash(): Promise<never> {
    this.#dead.abort();
    this.#lose();
    this.#strike({ point: 'insideEffect' });
    return never;
  }

  /** The process is paused as a whole, wherever it is, until {@link resume}. */
  pause(): Promise<void> {
    this.#paused ??= new Promise((resolve) => {
      this.#unpause = resolve;
    });
    this.#lose();
    return this.#paused;
  }

  /** What only a living process goes on with: resolves at once, never after a crash, and late while it is paused. */
  async alive(): Promise<void> {
    if (this.isCrashed) return never;
    await this.#paused;
    if (this.isCrashed) return never;
  }

  /** Ends a stall: the zombie goes on where it stood. */
  resume(): void {
    this.#paused = null;
    this.#unpause();
  }

  #happen(fault: Fault['fault'], passage: Passage): Promise<void> | void {
    const { point } = passage;
    if (typeof fault === 'function') {
      this.#strike(passage);
      return fault(passage);
    }
    this.#onStrike(fault, passage);
    switch (fault) {
      case 'crash':
        this.#dead.abort();
        this.#lose();
        this.#strike(passage);
        return this.#leave(passage);
      case 'stall':
        this.#strike(passage);
        return this.pause();
      case 'disconnect':
        this.#strike(passage);
        if (point === 'place') throw noAnswer('connection was lost before the answer');
        if (!DATABASE_POINTS.has(point)) return;
        throw connectionLost();
      case 'timeout':
        this.#strike(passage);
        if (point === 'place') throw noAnswer('request timed out');
        if (!DATABASE_POINTS.has(point)) return never;
        throw statementTimedOut();
    }
  }

  /** A dead process holds no connection, so a transaction is left by an error; everything else just never goes on. */
  #leave(passage: Passage): Promise<never> {
    const { point } = passage;
    if (!DATABASE_POINTS.has(point) && !this.#isInTransaction(passage)) return never;
    throw new SimulatedCrash(`the process died at ${point}`);
  }
}

/** What the driver says of a connection that broke. */
export function connectionLost(): Error {
  return new Error('Connection terminated unexpectedly');
}

/** What the server says of a statement that took too long. */
export function statementTimedOut(): Error {
  return Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
}

/** What a careful client throws whose request was sent and not answered: nobody knows whether it was carried out. */
function noAnswer(what: string): ToolError {
  return new ToolError(what, { outcome: 'unknown', code: 'NO_ANSWER' });
}
