import { childModule } from '../children/child-module.ts';
import { type Child, startChild } from '../children/start-child.ts';
import { KillClock } from './kill-clock.ts';
import type { PlannedKill } from './kill-plan.ts';
import type { WorldMethods, WorldNotices } from './recorded-world.child.ts';
import type { RehearsalReport } from './rehearsal-report.ts';
import type { RehearsalSetup } from './rehearsal-setup.ts';
import type { DriveFailure, WorkerMethods, WorkerNotices } from './rehearsal-worker.child.ts';
import type { RehearsalProgress } from './rehearse.ts';

type Worker = Child<WorkerMethods, WorkerNotices>;

/** What a line of workers needs. */
export interface WorkerLineOptions {
  world: Child<WorldMethods, WorldNotices>;
  setup: RehearsalSetup;
  /** Folder in which compiled code is kept for the next worker. */
  codeCache: string;
  /** `null`: nobody is killed. */
  planKill: (() => PlannedKill) | null;
  maxMs: number;
  onProgress: (progress: Pick<RehearsalProgress, 'calls' | 'sessions' | 'kills'>) => void;
}

/** How a line of workers ended. */
export interface LineEnd {
  finished: boolean;
  kills: RehearsalReport['kills'];
  failures: DriveFailure[];
}

/**
 * One worker after the other, each killed with SIGKILL when its time has come, until one brings every conversation to its end.
 *
 * The next one is started early and waits with its modules loaded: starting Node takes longer than opening the database.
 */
export class WorkerLine {
  readonly #options: WorkerLineOptions;
  readonly #clock: KillClock | null;
  readonly #done = new Map<string, DriveFailure | null>();
  readonly #kills = { total: 0, insideTool: 0 };
  #calls = 0;
  #current: Worker | null = null;
  #dying: Promise<void> | null = null;
  #isOver = false;

  constructor(options: WorkerLineOptions) {
    this.#options = options;
    const { planKill, world } = options;
    this.#clock = planKill === null ? null : new KillClock(planKill, () => this.#kill());
    world.on('began', ({ isNew }) => {
      if (!isNew) return;
      this.#calls += 1;
      this.#clock?.callBegan();
      this.#report();
    });
  }

  /** @throws what a worker throws that is not of one conversation alone: a database that cannot be opened, a bug. */
  async run(): Promise<LineEnd> {
    const { setup, maxMs } = this.#options;
    const timer = setTimeout(() => this.#giveUp(), maxMs);
    let next = this.#startWorker();
    try {
      while (!this.#isOver) {
        const worker = next;
        this.#current = worker;
        next = this.#startWorker();
        worker.on('done', ({ transcriptId, failure }) => this.#noteDone(transcriptId, failure));
        const isDriven = await worker.ask('drive', { setup, done: [...this.#done.keys()] }).then(
          () => true,
          (error: unknown) => {
            if (this.#dying === null) throw error;
            return false;
          },
        );
        if (isDriven) return this.#end(true);
        await this.#dying;
        this.#dying = null;
      }
      return this.#end(false);
    } finally {
      clearTimeout(timer);
      this.#clock?.stop();
      await Promise.all([next.kill(), this.#current?.kill()]);
    }
  }

  /** A worker lives for seconds: to optimise the code of an embedded database takes longer than it gives back. */
  #startWorker(): Worker {
    return startChild(childModule(import.meta.url, 'rehearsal-worker.child'), {
      execArgv: ['--liftoff-only'],
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? this.#options.codeCache },
    });
  }

  #kill(): void {
    const worker = this.#current;
    if (worker === null || this.#dying !== null) return;
    this.#dying = this.#countKill(worker);
  }

  async #countKill(worker: Worker): Promise<void> {
    const gone = worker.kill();
    // Asked at once: the kernel may take longer to close a dead process's connections than a tool takes to answer.
    if ((await this.#options.world.ask('takeOpen')) > 0) this.#kills.insideTool += 1;
    this.#kills.total += 1;
    await gone;
    this.#report();
  }

  #giveUp(): void {
    this.#isOver = true;
    this.#clock?.stop();
    this.#dying ??= this.#current?.kill() ?? Promise.resolve();
  }

  #noteDone(transcriptId: string, failure: DriveFailure | null): void {
    this.#done.set(transcriptId, failure);
    this.#report();
  }

  #report(): void {
    this.#options.onProgress({ calls: this.#calls, sessions: this.#done.size, kills: this.#kills.total });
  }

  #end(finished: boolean): LineEnd {
    const failures = [...this.#done.values()].filter((failure) => failure !== null);
    return { finished, kills: { ...this.#kills }, failures };
  }
}
