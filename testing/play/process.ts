import type { Environment, FaultInfo, FaultPoint } from '../../environment.ts';
import type { Limits } from '../../limits.ts';
import { createRuntime, type Runtime } from '../../runtime/create-runtime.ts';
import type { Agent } from '../../runtime/define-agent.ts';
import type { LogEntry } from '../../runtime/log.ts';
import type { Session } from '../../runtime/session-handle.ts';
import { SeededChance } from '../clock/seeded-chance.ts';
import type { VirtualClock } from '../clock/virtual-clock.ts';
import type { KitDatabase } from '../database/kit-database.contract.ts';
import { DATABASE_POINTS, type FaultKind, FaultPlan, type Passage } from '../faults/fault-plan.ts';
import type { FaultCommand } from '../plan/plan.ts';
import type { Gates } from './gates.ts';
import type { TransactionHolder } from './transaction-holder.ts';

/** What all processes of a run share. */
export interface Surroundings {
  database: KitDatabase;
  clock: VirtualClock;
  gates: Gates;
  holder: TransactionHolder;
  /** Faults that are still to happen, in whichever process comes there first. */
  due: DueFault[];
  onStrike(process: KitProcess, fault: FaultKind, passage: Passage): void;
  onLog(process: KitProcess, entry: LogEntry): void;
}

/** A planned fault, with the passages that it has seen. */
export interface DueFault {
  command: FaultCommand;
  seen: number;
}

/** However often it is struck, a run is not given up. */
const LIMITS: Partial<Limits> = { maxRecoveries: 1_000, graceMs: 1_000, modelBackoffMs: 0, reconcileBackoffMs: 1_000 };

const EFFECTS: ReadonlySet<Passage['point']> = new Set(['beforeEffect', 'insideEffect', 'afterEffect']);

/** One simulated process: a runtime with clock, ids and faults of its own. */
export class KitProcess {
  readonly number: number;
  readonly plan: FaultPlan;
  /** Handles of the sessions that it has opened, by number. */
  readonly sessions = new Map<number, Promise<Session>>();
  /** Tools that are at work outside of every place of the kit's. */
  busy = 0;
  isClosed = false;
  /** Whether it was told to close: it gives its sessions back. */
  isClosing = false;
  /** How it was lost; `null` while it lives. */
  lostBy: FaultCommand | null = null;
  /** How often time has passed without it. */
  awayFor = 0;
  runtime!: Runtime;
  readonly #around: Surroundings;
  #isUp = false;

  constructor(number: number, ids: number, around: Surroundings) {
    this.number = number;
    this.#around = around;
    const chance = new SeededChance(ids + number * 7_919);
    const { clock, holder } = around;
    const base: Environment = {
      now: clock.now,
      monotonic: clock.monotonic,
      sleep: clock.sleep,
      uuid: chance.uuid,
      random: chance.random,
      faultPoint: () => undefined,
    };
    this.plan = new FaultPlan([], base, {
      endsTransactions: true,
      isInTransaction: ({ sessionId }) => holder.isHeldBy(this, sessionId),
      onStrike: (fault, passage) => around.onStrike(this, fault, passage),
    });
  }

  /** Starts it; nothing goes wrong before it is up. */
  async start(agentOf: (process: KitProcess) => Agent): Promise<void> {
    const { database } = this.#around;
    const { now, monotonic, uuid, random, sleep } = this.plan;
    const environment: Environment = { now, monotonic, uuid, random, sleep, faultPoint: this.#faultPoint };
    const { plan } = this;
    const { adapter } = database.mortalAdapter({
      environment,
      alive: () => plan.alive(),
      get isPaused() {
        return plan.isPaused && !plan.isCrashed;
      },
    });
    this.runtime = await createRuntime({
      database: adapter,
      agents: [agentOf(this)],
      migrate: 'check',
      limits: LIMITS,
      onWarning: () => undefined,
      log: (entry) => this.#around.onLog(this, entry),
      environment,
    });
    this.#isUp = true;
  }

  get isLiving(): boolean {
    return !this.plan.isCrashed && !this.plan.isPaused && !this.isClosed;
  }

  /** A place in a tool: where a fault is due it happens, else whatever waits is let on in the plan's order. */
  async at(place: string, info: FaultInfo): Promise<void> {
    this.#strike({ point: 'place', place, ...info });
    await this.plan.place(place, info);
    // Inside a transaction nobody is let on before it: they would wait for its connection.
    if (!this.#around.holder.isHeldBy(this, info.sessionId)) await this.#around.gates.pass({ isInTool: true });
    await this.plan.alive();
  }

  /** Nothing of it has any effect from here on. */
  abandon(): void {
    void this.plan.crash();
  }

  #faultPoint = (point: FaultPoint, info: FaultInfo): Promise<void> | void => {
    if (!this.#isUp) return;
    const { holder, gates } = this.#around;
    if (point === 'beforeBegin' || point === 'commitSent') holder.free();
    if (point === 'afterLock') holder.take(this, info.sessionId);
    this.#strike({ point, ...info });
    // A pause lets what it has under way in the database come to its end: it holds the one connection.
    if (this.plan.isPaused && !this.plan.isCrashed && DATABASE_POINTS.has(point)) return;
    const passed = this.plan.faultPoint(point, info);
    // A process that comes back after a stall may hear that it is too late, or commit first.
    const isMixed = point === 'beforeHeartbeat' || (point === 'beforeEffect' && info.executionId !== undefined);
    if (!isMixed || holder.isHeldBy(this, info.sessionId)) return passed;
    return (async () => {
      await passed;
      await gates.pass({ isInTool: false });
      await this.plan.alive();
    })();
  };

  /** Arms the fault whose passage this is. */
  #strike(passage: Passage): void {
    const { due, holder } = this.#around;
    if (this.plan.isCrashed || this.plan.isPaused) return;
    for (const fault of [...due]) {
      const { command } = fault;
      if (command.point !== passage.point) continue;
      if (EFFECTS.has(passage.point) && passage.executionId === undefined) continue;
      // On one connection nobody else would get any further; a server ends what is silent for too long.
      const isSilent = command.fault === 'stall' || (command.fault === 'timeout' && EFFECTS.has(passage.point));
      if (isSilent && holder.isHeldBy(this, passage.sessionId)) continue;
      fault.seen += 1;
      if (fault.seen !== command.occurrence) continue;
      due.splice(due.indexOf(fault), 1);
      if (command.fault === 'crash' || command.fault === 'stall') this.lostBy = command;
      this.plan.arm({ point: passage.point, fault: command.fault });
      return;
    }
  }
}
