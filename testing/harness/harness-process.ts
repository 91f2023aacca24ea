import { setImmediate as turn } from 'node:timers/promises';
import type { FaultInfo, FaultPoint } from '../../environment.ts';
import { TurnlockError } from '../../errors.ts';
import type { Limits } from '../../limits.ts';
import type { Agent } from '../../runtime/define-agent.ts';
import { DATABASE_POINTS, type Fault, type Passage } from '../faults/fault-plan.ts';
import { checkFaults, readFaults } from '../faults/fault-text.ts';
import { MortalProcess } from '../play/mortal-process.ts';
import type { ProcessUnderTest } from '../subject.ts';

/** What a process of a harness is started with. */
export interface HarnessStart<Agents extends readonly Agent[]> {
  /** Its agents; a function is told of the process, so that tools can have places in which a fault may strike. */
  agents: Agents | ((process: ProcessUnderTest) => Agents);
  /** What goes wrong in it, also as the text that `readFaults` reads; passages count from when it is up. Default: nothing. */
  faults?: readonly Fault[] | string;
  /** As of `createRuntime`. Default: no back-off of the model or of `reconcile`, a second of grace for a tool that is late; all else as there. */
  limits?: Partial<Limits>;
}

/** What follows from a failure, or from a deadline that the clock has jumped over, waits for no further jump. */
const LIMITS: Partial<Limits> = { modelBackoffMs: 0, reconcileBackoffMs: 0, graceMs: 1_000 };

/** What who only looks at rows passes. */
const LOOKS: ReadonlySet<Passage['point']> = new Set([
  'beforeBegin',
  'afterStatement',
  'beforeCommit',
  'commitSent',
  'afterCommit',
]);

/** After so many acts a process lets the event loop turn: on PGlite all that it does is one chain of microtasks, in which no timer fires. */
const ACTS_PER_TURN = 50;

/** One process of a harness. */
export class HarnessProcess<Agents extends readonly Agent[] = readonly Agent[]> extends MortalProcess<Agents> {
  #passed = 0;
  #acts = 0;
  #turnsAt = ACTS_PER_TURN;

  /** How many passages it has come to. */
  get passed(): number {
    return this.#passed;
  }

  /** How many of them were more than a look at rows: a lock, a change, an effect, a place of a tool. */
  get acts(): number {
    return this.#acts;
  }

  /** @throws OPTIONS_INVALID for what is no fault, and for one that would hold the database for ever. What `createRuntime` throws. */
  async start(
    { agents, faults: planned = [], limits = {} }: HarnessStart<Agents>,
    clock: { now(): number },
    isSingleConnection: boolean,
  ): Promise<void> {
    const faults = typeof planned === 'string' ? readFaults(planned) : planned;
    checkFaults(faults);
    for (const fault of faults) checkFault(fault, isSingleConnection);
    const own = typeof agents === 'function' ? agents(this.#underTest(clock)) : agents;
    await this.open({ agents: own, limits: { ...LIMITS, ...limits } });
    for (const fault of faults) this.plan.arm(fault);
  }

  /** A place of a tool does not say which session it acts for: where the process has a transaction open, it counts as part of that. */
  override isInTransaction(passage: Pick<Passage, 'point' | 'detail'>): boolean {
    return passage.point === 'place' ? this.hasTransaction : super.isInTransaction(passage);
  }

  protected override pass(point: FaultPoint, info: FaultInfo): Promise<void> | void {
    this.#count({ point, ...info });
    const passed = super.pass(point, info);
    // Before a transaction, and never within one: others wait for it.
    if (point !== 'beforeBegin' || !this.#isTurnDue()) return passed;
    return Promise.resolve(passed).then(() => turn());
  }

  #count({ point, statement = 'select' }: Passage): void {
    if (this.plan.isCrashed) return;
    this.#passed += 1;
    if (!LOOKS.has(point) || !/^(select|begin|commit)/i.test(statement)) this.#acts += 1;
  }

  #isTurnDue(): boolean {
    if (this.#acts < this.#turnsAt) return false;
    this.#turnsAt = this.#acts + ACTS_PER_TURN;
    return true;
  }

  #underTest({ now }: { now(): number }): ProcessUnderTest {
    const { number, plan } = this;
    return {
      number,
      now,
      at: async (place) => {
        this.#count({ point: 'place', place });
        // Before the place: who dies meanwhile is noticed there, and holds no transaction for ever.
        if (this.#isTurnDue()) await turn();
        await plan.place(place);
        await plan.alive();
      },
    };
  }
}

/** @throws OPTIONS_INVALID for a pause that keeps the one connection of PGlite. */
function checkFault({ point, place, where, fault }: Fault, isSingleConnection: boolean): void {
  if (!isSingleConnection || fault !== 'stall') return;
  const isChosen = place !== undefined || where !== undefined;
  if (point === 'any' ? isChosen : !DATABASE_POINTS.has(point)) return;
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `fault not accepted: stall at ${point} (found PGlite, whose one connection nobody else would get, wanted a point outside of transactions)`,
  });
}
