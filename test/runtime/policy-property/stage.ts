import { randomUUID } from 'node:crypto';
import type { Runtime, Session } from '../../../index.ts';
import type { FaultPlan } from '../../../testing/faults/fault-plan.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { openRuntime } from '../../support/runtime-open.ts';
import { type Process, startProcess } from '../crash-property/process.ts';
import { Ledger } from './ledger.ts';
import type { Plot } from './plot.ts';
import { plotAgent } from './plot-agent.ts';

/** Longer than any lease, deadline and time to decide of a plot. */
export const HOUR_MS = 3_600_000;

const LIMITS = { graceMs: 0, modelBackoffMs: 0, reconcileBackoffMs: 0, maxRecoveries: 1_000 };

const LOST: unique symbol = Symbol('the process is lost');

/** Where a plot is played: one process after the other, of which each may be struck, and people who are never struck. */
export class Stage {
  readonly database: RuntimeDatabase;
  readonly plot: Plot;
  readonly ledger = new Ledger();
  /** What is being played, for whoever wonders why it does not end. */
  doing = 'nothing yet';
  readonly tenantId = `tenant-${randomUUID()}`;
  readonly #name = `agent-${randomUUID()}`;
  readonly #processes: Process[] = [];
  readonly #gone = new Set<FaultPlan>();
  #people: Runtime | null = null;

  constructor(database: RuntimeDatabase, plot: Plot) {
    this.database = database;
    this.plot = plot;
  }

  /** The first process. */
  open(): Promise<void> {
    return this.#start();
  }

  /** Ends all that is left of it. */
  async close(): Promise<void> {
    this.ledger.calm();
    for (const process of this.#processes) await process.close();
    await this.#people?.close();
  }

  /** How many processes were lost. */
  get losses(): number {
    return this.#processes.length - 1;
  }

  /** The runtime by which people decide. It drives nothing, and nothing strikes it. */
  async people(): Promise<Runtime> {
    const agent = plotAgent(this.#name, this.plot, this.ledger, { alive: async () => undefined, isGone: () => false });
    const adapter = this.database.adapter();
    this.#people ??= await openRuntime(this.database, [agent], { adapter, drive: false, limits: LIMITS });
    return this.#people;
  }

  /** The process that lives, as far as anybody knows. */
  get present(): Process {
    return this.#processes.at(-1)!;
  }

  /** A session of the plot, by its number. Creating it again changes nothing. */
  session(runtime: Runtime, place: number): Promise<Session> {
    return runtime.createSession({
      agent: this.#name,
      tenantId: this.tenantId,
      userId: 'user',
      externalId: `${place}`,
    });
  }

  /** Does `work` with the process that lives; where that is lost on the way, once more with the next one. */
  async withLiving<Result>(work: (runtime: Runtime) => Promise<Result>): Promise<Result> {
    for (;;) {
      const came = await this.asLongAs(this.present, work);
      if (came !== LOST) return came as Result;
      await this.#replace();
    }
  }

  /** What `work` comes to with `process`; {@link LOST} where that is lost first. What a lost one still says is of no interest. */
  async asLongAs<Result>(
    { runtime, plan }: Process,
    work: (runtime: Runtime) => Promise<Result>,
  ): Promise<Result | typeof LOST> {
    const lost = plan.lost.then((): typeof LOST => LOST);
    const working = work(runtime).catch((error: unknown) => {
      if (plan.isCrashed) return lost;
      throw error;
    });
    working.catch(() => undefined);
    return await Promise.race([working, lost]);
  }

  /** The next process, after every lease and deadline of the one before. A paused one goes on meanwhile, where it stood. */
  async #replace(): Promise<void> {
    const before = this.present;
    this.#gone.add(before.plan);
    await this.database.moveClock(HOUR_MS);
    await this.#start();
    before.plan.resume();
  }

  async #start(): Promise<void> {
    const strikes = this.plot.lives[this.#processes.length] ?? [];
    const agentOf = (plan: FaultPlan) => {
      const isGone = () => plan.isCrashed || this.#gone.has(plan);
      return plotAgent(this.#name, this.plot, this.ledger, { alive: plan.alive.bind(plan), isGone });
    };
    const faults = strikes.map(({ after, fault }) => ({ passage: after + 1, fault }));
    const limits = { ...LIMITS, maxParallelTools: this.plot.maxParallelTools };
    this.#processes.push(await startProcess(this.database, agentOf, faults, limits));
  }
}
