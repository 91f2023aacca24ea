import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { Tool } from '../../adapters/tools/tool.contract.ts';
import { isTurnlockError } from '../../errors.ts';
import { type Agent, defineAgent } from '../../runtime/define-agent.ts';
import type { Session } from '../../runtime/session-handle.ts';
import { VirtualClock } from '../clock/virtual-clock.ts';
import type { KitDatabase } from '../database/kit-database.contract.ts';
import type { FaultKind } from '../faults/fault-plan.ts';
import { BrokenPromises } from '../invariants/broken-promises.ts';
import { checkReconciliation, RECONCILES } from '../invariants/check-reconciliation.ts';
import { PROMISE_NAMES } from '../invariants/promise-names.ts';
import { Writers } from '../invariants/writers.ts';
import type { Plan } from '../plan/plan.ts';
import type { Subject } from '../subject.ts';
import { CallRecord } from './call-record.ts';
import type { Sent } from './client.ts';
import { describeLog } from './describe-log.ts';
import { finalOutput } from './final-reply.ts';
import { Gates } from './gates.ts';
import { kitModel } from './kit-model.ts';
import { NeverRests } from './never-rests.ts';
import { presentCall } from './present-call.ts';
import { type DueFault, KitProcess, type Surroundings } from './process.ts';
import { Timeline } from './timeline.ts';
import { TransactionHolder } from './transaction-holder.ts';
import { type ToolCall, watchedTool } from './watched-tool.ts';
import { WorldLook } from './world-look.ts';

/** Name of the agent that has the tools. */
export const AGENT = 'kit';

/** Sleeps up to this long pass by themselves: back-offs, not heartbeats. In milliseconds. */
const SHORT_MS = 2_000;

/** What follows from one command takes fewer steps than this; on a server each statement may be one. */
const MAX_STEPS = { pglite: 2_000, postgres: 20_000 };

/** Milliseconds of real time for which a tool may wait for something that is not the kit's, before it counts as hanging. */
const PATIENCE_MS = 30;

const NO_END_OF_LOCK = 'a statement waits for a lock, and the server does not end it';

/** Where one plan is played: processes that come and go, one world, one clock. */
export class Stage<World> {
  readonly world: World;
  readonly clock = new VirtualClock();
  readonly timeline: Timeline;
  readonly calls: CallRecord;
  readonly due: DueFault[] = [];
  readonly sent: Sent[] = [];
  /** Promises of Turnlock's own that were seen broken. */
  readonly broken = new BrokenPromises();
  /** Calls that have not come back. */
  readonly out = new Set<ToolCall>();
  /** Under which name each process holds sessions. */
  readonly holders = new Map<KitProcess, string>();
  /** How many faults of each kind have happened. */
  readonly struck: Record<FaultKind, number> = { crash: 0, stall: 0, disconnect: 0, timeout: 0 };
  /** Who wrote to which session. */
  readonly writers = new Writers();
  readonly database: KitDatabase;
  readonly plan: Plan;
  readonly subject: Subject<World>;
  readonly #processes: KitProcess[] = [];
  readonly #gates: Gates;
  readonly #around: Surroundings;
  readonly #look: WorldLook | null;
  /** Rises with everything that tools do. */
  #moves = 0;
  #hangsSince = -1;

  constructor(database: KitDatabase, subject: Subject<World>, plan: Plan, isTold: boolean) {
    this.database = database;
    this.subject = subject;
    this.plan = plan;
    this.world = subject.world();
    this.timeline = new Timeline(isTold, this.clock.monotonic);
    this.#look = isTold ? new WorldLook(this.world) : null;
    this.#gates = new Gates(plan.order, database.kind === 'postgres');
    this.calls = new CallRecord(this.broken);
    this.#around = {
      database,
      clock: this.clock,
      gates: this.#gates,
      holder: new TransactionHolder(),
      due: this.due,
      onLocked: (sessionId, transaction) =>
        this.writers.passedLock(sessionId, transaction, () => `session ${this.numberOf(sessionId) ?? sessionId}`),
      onStrike: ({ number }, fault, { point, place }) => {
        this.struck[fault] += 1;
        this.look(number);
        this.timeline.note(number, () => `${STRIKES[fault]} at ${place === undefined ? point : `'${place}'`}`);
      },
      onLog: (process, entry) => {
        if (entry.event === 'runtime.started') this.holders.set(process, String(entry.attributes.holder));
        const said = this.timeline.isKept ? describeLog(entry, (sessionId) => this.numberOf(sessionId)) : null;
        if (said !== null) this.timeline.note(process.number, () => said);
      },
    };
  }

  /** Sets the database's clock, and starts the first process. */
  async open(): Promise<void> {
    await this.database.setNow(this.clock.now());
    await this.living(1);
  }

  /** Nothing of the run goes on after this. */
  async close(): Promise<void> {
    this.#abandonAll();
    await this.database.reset();
  }

  /** Ends the run, and keeps what it left in a new folder within `parent`; resolves to that folder, or to `null` where it cannot be kept. */
  async keepIn(parent: string): Promise<string | null> {
    this.#abandonAll();
    return this.database.keepIn(parent);
  }

  #abandonAll(): void {
    for (const process of this.#processes) process.abandon();
  }

  /** The living process of that place, from 1 on: started, where there are fewer. */
  async living(place: number): Promise<KitProcess> {
    for (;;) {
      const all = this.alive;
      const found = all[Math.min(place, all.length + 1) - 1];
      if (found !== undefined) return found;
      await this.#start();
    }
  }

  /** Starts one more process where the one that was started last is gone: of a rolling deploy, nobody of the newest build may be left. */
  async replaceNewest(): Promise<void> {
    if (this.#processes.at(-1)?.isLiving === false) await this.#start();
  }

  /** The living process that was started last: of a rolling deploy, one of the newest build. */
  async newest(): Promise<KitProcess> {
    return this.alive.at(-1) ?? (await this.living(1));
  }

  /** Rises with every fault that happens. */
  get strikes(): number {
    return Object.values(this.struck).reduce((all, one) => all + one);
  }

  get alive(): KitProcess[] {
    return this.#processes.filter(({ isLiving }) => isLiving);
  }

  get paused(): KitProcess[] {
    return this.#processes.filter(({ plan }) => plan.isPaused && !plan.isCrashed);
  }

  /** The session of that number, by a process that lives. Creating it again changes nothing. */
  session(process: KitProcess, number: number): Promise<Session> {
    const known = process.sessions.get(number);
    if (known !== undefined) return known;
    const opened = process.runtime.createSession({ agent: AGENT, ...this.ownerOf(number), externalId: `${number}` });
    process.sessions.set(number, opened);
    opened.then(
      ({ sessionId }) => this.#numbers.set(sessionId, number),
      () => process.sessions.delete(number),
    );
    return opened;
  }

  readonly #numbers = new Map<string, number>();

  numberOf(sessionId: string): number | undefined {
    return this.#numbers.get(sessionId);
  }

  /** Whose session it is. */
  ownerOf(number: number): { tenantId: string; userId: string } {
    const { tenants, users } = this.subject;
    const place = number - 1;
    return { tenantId: `tenant-${1 + (place % tenants)}`, userId: `user-${1 + (Math.floor(place / tenants) % users)}` };
  }

  /** Does `work` in a process that may be lost meanwhile. Not waited for: see {@link quiet}. */
  attempt(process: KitProcess, what: string, work: () => Promise<unknown>): void {
    work().catch((error: unknown) => {
      if (!process.isLiving && !process.plan.isPaused) return;
      if (isTurnlockError(error) && error.category !== 'bug') {
        this.timeline.note(process.number, () => `${what}: refused, ${error.code}`);
        return;
      }
      const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.broken.note(PROMISE_NAMES.runtime, `${what}: ${said}`);
    });
  }

  /** Lets time pass at once. Nobody is woken before {@link quiet}. */
  async jump(ms: number): Promise<void> {
    this.clock.jump(ms);
    await this.database.setNow(this.clock.now());
  }

  /** Lets what waits at places go on so many times, and no further. */
  async letOn(steps: number): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      await turn();
      await this.database.settled();
      this.#gates.release();
    }
    await this.database.settled();
  }

  /** From here on nothing waits at a place: for what is looked at once all is at rest. */
  openPlaces(): void {
    this.#gates.open();
  }

  /**
   * Resolves once nothing goes on by itself any more. `isHeld`: what waits at a place stays there, and who waits for its locks; `inTools`: what
   * waits in a tool, but not what waits before it.
   */
  async quiet(isHeld: boolean | 'inTools' = false): Promise<void> {
    const most = MAX_STEPS[this.database.kind];
    for (let steps = 0; steps < most; steps += 1) {
      await turn();
      const isBlocked = (await this.database.settled()) === 'blocked';
      if (isHeld !== true && this.#gates.release({ staysInTools: isHeld === 'inTools' })) continue;
      if (this.clock.wakeDue() || this.#gates.releaseSlow()) continue;
      const { nextWakeInMs } = this.clock;
      if (isBlocked) {
        if (isHeld) return;
        if (!(await this.#waitsForOthers()) && !(await this.database.unblocked())) throw new NeverRests(NO_END_OF_LOCK);
      } else if (this.database.isHeld) {
        if (!(await this.#waitsForOthers())) throw new NeverRests('a transactional tool does not come to its end');
      } else if (!isHeld && nextWakeInMs <= SHORT_MS) await this.jump(nextWakeInMs);
      else if (!(await this.#waitsForOthers())) return;
    }
    throw new NeverRests(`it goes on and on: ${most} steps, and no end`);
  }

  /** Notes what has changed in the world. */
  look(process: number | null): void {
    for (const change of this.#look?.changes() ?? []) this.timeline.note(process, () => `the world: ${change}`);
  }

  /** A tool waits for something of its own: it is given a moment. Whether it went on. */
  async #waitsForOthers(): Promise<boolean> {
    const isBusy = this.alive.some(({ busy }) => busy > 0);
    if (!isBusy || this.#hangsSince === this.#moves) return false;
    const before = this.#moves;
    for (let waited = 0; waited < PATIENCE_MS && this.#moves === before; waited += 1) await pause(1);
    if (this.#moves !== before) return true;
    this.#hangsSince = before;
    return false;
  }

  async #start(): Promise<void> {
    const process = new KitProcess(this.#processes.length + 1, this.plan.ids, this.#around);
    await process.start((own) => this.#agentOf(own));
    this.#processes.push(process);
    this.timeline.note(process.number, () => 'starts');
  }

  #agentOf(process: KitProcess): Agent {
    const { tools, policy } = this.subject;
    const own = tools(this.world, {
      number: process.number,
      now: this.clock.now,
      at: async (place) => this.#passPlace(process, place),
    });
    const watch = {
      timeline: this.timeline,
      look: (number: number) => {
        this.#moves += 1;
        this.look(number);
      },
      called: (call: ToolCall) => {
        this.#moves += 1;
        this.calls.note(call);
      },
      reconciled: (executionId: string) => this.calls.reconciled(executionId),
      verdict: (tool: Tool, answer: unknown) => {
        const wrong = checkReconciliation(tool, answer);
        if (wrong !== null) this.broken.note(RECONCILES, wrong);
      },
      out: this.out,
    };
    const isEnding = this.plan.commands.some((command) => command.type === 'message' && command.isFinal);
    return defineAgent({
      name: AGENT,
      instructions: 'Do what the plan says.',
      model: kitModel(
        (text) => this.sent.find((one) => one.text === text)?.command,
        async () => {
          // Answers that come at the same time: what two processes commit then overlaps.
          if (this.#gates.together) await this.#gates.pass({ isInTool: false });
          await process.plan.alive();
        },
      ),
      tools: own.map((tool) => watchedTool(tool, process, policy, watch)),
      ...(isEnding ? { output: finalOutput } : {}),
    }) as Agent;
  }

  async #passPlace(process: KitProcess, place: string): Promise<void> {
    this.#moves += 1;
    this.look(process.number);
    process.busy -= 1;
    try {
      await process.at(place, presentCall.getStore() ?? {});
    } finally {
      process.busy += 1;
    }
  }
}

const STRIKES = {
  crash: 'is killed',
  stall: 'stands still',
  disconnect: 'loses its connection',
  timeout: 'waits in vain',
} as const;
