import type { FaultInfo, FaultPoint } from '../../environment.ts';
import type { Limits } from '../../limits.ts';
import type { Agent } from '../../runtime/define-agent.ts';
import type { LogEntry } from '../../runtime/log.ts';
import type { Session } from '../../runtime/session-handle.ts';
import { type FaultKind, type Passage, SimulatedCrash } from '../faults/fault-plan.ts';
import type { SeenTransaction } from '../invariants/writers.ts';
import type { FaultCommand } from '../plan/plan.ts';
import type { Gates } from './gates.ts';
import { type Ground, MortalProcess } from './mortal-process.ts';

/** What all processes of a run share. */
export interface Surroundings extends Ground {
  gates: Gates;
  /** Faults that are still to happen, in whichever process comes there first. */
  due: DueFault[];
  /** A transaction has passed the lock of a session. */
  onLocked: (sessionId: string, transaction: SeenTransaction) => void;
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

/** Where a transaction on a server may be overtaken by another one. */
const STEPS: ReadonlySet<FaultPoint> = new Set(['beforeBegin', 'afterLock', 'afterStatement', 'beforeCommit']);

const EFFECTS: ReadonlySet<Passage['point']> = new Set(['beforeEffect', 'insideEffect', 'afterEffect']);

/** One simulated process of a run. */
export class KitProcess extends MortalProcess {
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
  readonly #around: Surroundings;
  /** The transaction in which it goes on, as of the last statement that was answered. */
  #present: SeenTransaction | null = null;
  /** Whether the step at hand is slow. */
  #isSlow = false;
  /** The transaction whose next statement is. */
  #slow: SeenTransaction | null = null;

  constructor(number: number, ids: number, around: Surroundings) {
    super(number, ids, around, (fault, passage) => around.onStrike(this, fault, passage));
    this.#around = around;
  }

  /** Starts it; nothing goes wrong before it is up. */
  async start(agentOf: (process: KitProcess) => Agent): Promise<void> {
    await this.open({ agents: [agentOf(this)], limits: LIMITS, log: (entry) => this.#around.onLog(this, entry) });
  }

  get isLiving(): boolean {
    return !this.plan.isCrashed && !this.plan.isPaused && !this.isClosed;
  }

  /** A place in a tool: where a fault is due it happens, else whatever waits is let on in the plan's order. */
  async at(place: string, info: FaultInfo): Promise<void> {
    const passage = { point: 'place', place, ...info } as const;
    this.passes(passage);
    const isSlow = this.#takeSlowStep('place', null);
    if (!this.comesToItsEnd(passage)) await this.plan.place(place, info);
    if (isSlow) await this.#around.gates.passSlowly();
    await this.#passGate(passage);
  }

  protected override pass(point: FaultPoint, info: FaultInfo): Promise<void> | void {
    const { gates, onLocked } = this.#around;
    if (point === 'afterStatement') this.#present = this.present;
    const present = this.#present;
    if (point === 'afterLock' && info.sessionId !== undefined && present !== null) onLocked(info.sessionId, present);
    let passed = super.pass(point, info);
    if (this.#takeSlowStep(point, present)) passed = Promise.resolve(passed).then(() => gates.passSlowly());
    if (gates.stepwise && STEPS.has(point)) {
      return (async () => {
        await passed;
        await gates.pass({ isInTool: false });
        this.#present = present;
      })();
    }
    // A process that comes back after a stall may hear that it is too late, or commit first.
    const isMixed = point === 'beforeHeartbeat' || (point === 'beforeEffect' && info.executionId !== undefined);
    if (!isMixed) return passed;
    return (async () => {
      await passed;
      await this.#passGate({ point, ...info });
    })();
  }

  /** Whether a fault has made the step at hand slow. Of who has just got a lock it is the next one: what is read there is old afterwards. */
  #takeSlowStep(point: Passage['point'], present: SeenTransaction | null): boolean {
    const isSlow = this.#isSlow;
    this.#isSlow = false;
    if (isSlow && point === 'afterLock') {
      this.#slow = present;
      return false;
    }
    if (isSlow || point !== 'afterStatement' || present === null || present !== this.#slow) return isSlow;
    this.#slow = null;
    return true;
  }

  /** On one connection nobody is let on before who is inside a commit: they would wait for it. */
  async #passGate(passage: Passage): Promise<void> {
    const { gates } = this.#around;
    const isInTool = passage.point === 'place';
    if (!this.isInTransaction(passage)) {
      await gates.pass({ isInTool });
      return this.plan.alive();
    }
    if (gates.together) await gates.pass({ isInTool });
    if (this.plan.isCrashed) throw new SimulatedCrash(`the process died at ${passage.point}`);
  }

  /** Arms the fault whose passage this is. */
  protected override passes(passage: Passage): void {
    const { due, gates } = this.#around;
    if (this.plan.isCrashed || this.plan.isPaused) return;
    for (const fault of [...due]) {
      const { command } = fault;
      if (command.point !== passage.point) continue;
      if (EFFECTS.has(passage.point) && passage.executionId === undefined) continue;
      if (command.isBrief && !gates.together) continue;
      // On one connection nobody else would get any further; a server ends what is silent for too long.
      const isSilent =
        (command.fault === 'stall' && !command.isBrief) || (command.fault === 'timeout' && EFFECTS.has(passage.point));
      if (isSilent && this.isInTransaction(passage)) continue;
      fault.seen += 1;
      if (fault.seen !== command.occurrence) continue;
      due.splice(due.indexOf(fault), 1);
      if (command.isBrief) {
        this.#isSlow = true;
        this.#around.onStrike(this, command.fault, passage);
        return;
      }
      if (command.fault === 'crash' || command.fault === 'stall') this.lostBy = command;
      this.plan.arm({ point: passage.point, fault: command.fault });
      return;
    }
  }
}
