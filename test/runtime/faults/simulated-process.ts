import { AsyncLocalStorage } from 'node:async_hooks';
import { type Environment, type FaultInfo, type FaultPoint, systemEnvironment } from '../../../environment.ts';
import { ManualClock } from '../../../testing/clock/manual-clock.ts';
import {
  connectionLost,
  DATABASE_POINTS,
  type Fault,
  type FaultKind,
  FaultPlan,
  statementTimedOut,
} from '../../../testing/faults/fault-plan.ts';
import { type Place, Way } from './places.ts';

/** Longer than any call may take, in milliseconds. */
export const OVERTIME_MS = 61_000;

const never = new Promise<never>(() => undefined);

/** A process that drives one session, with a clock of its own, and in which one fault strikes at one place. */
export class SimulatedProcess implements Environment {
  readonly clock = new ManualClock();
  readonly plan: FaultPlan;
  readonly #way = new Way();
  /** What the next statement comes to. */
  #broken: Error | null = null;
  #isMended: () => void = () => undefined;
  /** Resolves when a statement has met what broke between two of them. */
  readonly hasNoticed = new Promise<void>((resolve) => {
    this.#isMended = resolve;
  });

  constructor(place: Place, fault: FaultKind) {
    const where: Fault['where'] = ({ detail }) => detail === place;
    this.plan = new FaultPlan([{ point: 'any', where, fault: this.#faultAt(place, fault) }], this.clock);
  }

  now = (): number => this.plan.now();
  monotonic = (): number => this.plan.monotonic();
  uuid = (): string => this.plan.uuid();
  random = (): number => this.plan.random();
  sleep = (ms: number, signal?: AbortSignal): Promise<void> => this.plan.sleep(ms, signal);

  faultPoint = (point: FaultPoint, info: FaultInfo): Promise<void> | void => {
    const { sessionId, executionId, statement } = info;
    const detail = this.#way.placeOf(point, { ...info, statement });
    if (this.#broken !== null && point === 'afterStatement') {
      const broken = this.#broken;
      this.#broken = null;
      this.#isMended();
      throw broken;
    }
    return this.plan.faultPoint(point, { sessionId, executionId, statement, detail } as FaultInfo);
  };

  /** The model has asked for the call: places are passed from here on. */
  noteAnswer(): void {
    this.#way.noteAnswer();
  }

  #faultAt(place: Place, fault: FaultKind): Fault['fault'] {
    const point = /\w+$/.exec(place.split(',')[0] ?? '')?.[0] as FaultPoint;
    if (fault === 'crash' || fault === 'stall' || DATABASE_POINTS.has(point)) return fault;
    if (fault === 'disconnect') return () => this.#break(connectionLost());
    if (!point.endsWith('Effect')) return () => this.#break(statementTimedOut());
    if (point !== 'insideEffect') return () => this.clock.advance(OVERTIME_MS);
    return () => {
      setImmediate(() => this.clock.advance(OVERTIME_MS));
      return never;
    };
  }

  #break(error: Error): void {
    this.#broken = error;
  }
}

/** Many simulated processes in one runtime: what begins within one of them, and all that follows from it, has its clock and its fault. */
export class SimulatedProcesses implements Environment {
  readonly #storage = new AsyncLocalStorage<SimulatedProcess>();

  /** The process within which this is asked; `undefined` outside of all. */
  get present(): SimulatedProcess | undefined {
    return this.#storage.getStore();
  }

  /** Runs `work` within a process. */
  within<Result>(process: SimulatedProcess, work: () => Result): Result {
    return this.#storage.run(process, work);
  }

  now = (): number => this.#environment.now();
  monotonic = (): number => this.#environment.monotonic();
  uuid = (): string => this.#environment.uuid();
  random = (): number => this.#environment.random();
  sleep = (ms: number, signal?: AbortSignal): Promise<void> => this.#environment.sleep(ms, signal);
  faultPoint = (point: FaultPoint, info: FaultInfo): Promise<void> | void => this.#environment.faultPoint(point, info);

  get #environment(): Environment {
    return this.present ?? systemEnvironment;
  }
}
