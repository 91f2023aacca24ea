import { type Environment, type FaultInfo, type FaultPoint, INSIDE_COMMIT } from '../../environment.ts';
import type { Limits } from '../../limits.ts';
import { createRuntime, type Runtime } from '../../runtime/create-runtime.ts';
import type { Agent } from '../../runtime/define-agent.ts';
import type { LogEntry } from '../../runtime/log.ts';
import { SeededChance } from '../clock/seeded-chance.ts';
import type { KitDatabase } from '../database/kit-database.contract.ts';
import { DATABASE_POINTS, FaultPlan, type FaultPlanOptions, type Passage } from '../faults/fault-plan.ts';
import type { TransactionHolder } from './transaction-holder.ts';

/** What a process that may be lost stands on. */
export interface Ground {
  database: KitDatabase;
  clock: Pick<Environment, 'now' | 'monotonic' | 'sleep'>;
  holder: TransactionHolder;
}

/** What its runtime is given. */
export interface MortalRuntime<Agents extends readonly Agent[]> {
  agents: Agents;
  limits: Partial<Limits>;
  log?: (entry: LogEntry) => void;
}

/** Apart from each other, so that no two processes of a run make the same ids. */
const SEED_STEP = 7_919;

/** One simulated process: a runtime with clock, ids and faults of its own. */
export class MortalProcess<Agents extends readonly Agent[] = readonly Agent[]> {
  readonly number: number;
  readonly plan: FaultPlan;
  runtime!: Runtime<Agents>;
  readonly #ground: Ground;
  #isUp = false;
  #destroy: () => Promise<void> = async () => undefined;

  constructor(number: number, seed: number, ground: Ground, onStrike?: FaultPlanOptions['onStrike']) {
    this.number = number;
    this.#ground = ground;
    const { now, monotonic, sleep } = ground.clock;
    const { uuid, random } = new SeededChance(seed + number * SEED_STEP);
    const base: Environment = { now, monotonic, sleep, uuid, random, faultPoint: () => undefined };
    this.plan = new FaultPlan([], base, {
      endsTransactions: true,
      isInTransaction: (passage) => this.isInTransaction(passage),
      onStrike: (fault, passage) => {
        onStrike?.(fault, passage);
        // Once it is struck, and no sooner: what it has sent by then is on its way.
        if (fault === 'crash') void this.plan.struck.then(() => this.#destroy());
      },
    });
  }

  /** Starts it; nothing goes wrong before it is up. */
  async open({ agents, limits, log }: MortalRuntime<Agents>): Promise<void> {
    const { plan } = this;
    const { now, monotonic, uuid, random, sleep } = plan;
    const faultPoint: Environment['faultPoint'] = (point, info) => (this.#isUp ? this.pass(point, info) : undefined);
    const environment: Environment = { now, monotonic, uuid, random, sleep, faultPoint };
    const { adapter, destroy } = this.#ground.database.mortalAdapter({
      environment,
      alive: () => plan.alive(),
      get isPaused() {
        return plan.isPaused && !plan.isCrashed;
      },
    });
    this.#destroy = destroy;
    this.runtime = await createRuntime({
      database: adapter,
      agents,
      migrate: 'check',
      limits,
      onWarning: () => undefined,
      ...(log === undefined ? {} : { log }),
      environment,
    });
    this.#isUp = true;
  }

  /** Nothing of it goes on by itself from here on; its connections stay, for who comes after it. */
  abandon(): void {
    void this.plan.crash();
  }

  /** Nothing of it has any effect from here on. Resolves once its connections are gone. */
  async kill(): Promise<void> {
    this.abandon();
    await this.#destroy();
  }

  /** Whether what passes there is part of a commit of this process. */
  isInTransaction({ detail }: Pick<Passage, 'point' | 'detail'>): boolean {
    return detail === INSIDE_COMMIT;
  }

  /** Whether it has the one connection of PGlite for a transaction, for whichever session. */
  get hasTransaction(): boolean {
    return this.#ground.holder.isOf(this);
  }

  /** Told of each passage before its plan is. */
  protected passes(_passage: Passage): void {}

  /** One passage of a fault point. */
  protected pass(point: FaultPoint, info: FaultInfo): Promise<void> | void {
    const { holder } = this.#ground;
    if (point === 'beforeBegin' || point === 'commitSent') holder.free();
    if (point === 'afterLock') holder.take(this);
    const passage = { point, ...info };
    this.passes(passage);
    if (this.comesToItsEnd(passage)) return;
    return this.plan.faultPoint(point, info);
  }

  /** A pause lets what it has under way in the database come to its end: it holds locks, and on PGlite the one connection. */
  protected comesToItsEnd(passage: Passage): boolean {
    const { isPaused, isCrashed } = this.plan;
    return isPaused && !isCrashed && (DATABASE_POINTS.has(passage.point) || this.isInTransaction(passage));
  }
}
