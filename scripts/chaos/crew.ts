import { childModule } from '../../adapters/cli/children/child-module.ts';
import { type Child, startChild } from '../../adapters/cli/children/start-child.ts';
import type { ChaosWorkerMethods, ChaosWorkerNotices } from './chaos-worker.child.ts';

/** How many wait. */
const RESERVE = 2;

type WorkerProcess = Child<ChaosWorkerMethods, ChaosWorkerNotices>;

/** Worker processes: so many at work, and some in reserve that have loaded their modules and opened nothing. */
export class Crew {
  readonly #setup: { url: string; ledger: string };
  readonly #codeCache: string;
  readonly #size: number;
  #atWork: WorkerProcess[] = [];
  readonly #reserve: WorkerProcess[];
  #opening = 0;
  readonly #stopped = new Set<WorkerProcess>();
  kills = 0;
  /** Workers that ended though nobody killed them: none may. */
  died = 0;
  stops = 0;
  /** Drives of workers that the database refused, since another one had their session. */
  refused = 0;

  /** @param codeCache folder of compiled code: without it half of the machine's time goes into starting what is killed next. */
  constructor(setup: { url: string; ledger: string }, codeCache: string, size: number) {
    this.#setup = setup;
    this.#codeCache = codeCache;
    this.#size = size;
    this.#reserve = Array.from({ length: RESERVE }, () => this.#start());
  }

  #start(): WorkerProcess {
    const worker: WorkerProcess = startChild(childModule(import.meta.url, 'chaos-worker.child'), {
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? this.#codeCache },
    });
    worker.on('session', ({ skipped }) => {
      if (skipped === 'TOKEN_STALE') this.refused += 1;
    });
    return worker;
  }

  /** Fills the crew up. A worker that finds the database away comes a moment later. */
  async fill(): Promise<void> {
    while (this.#atWork.length + this.#opening < this.#size) await this.#add();
  }

  async #add(): Promise<void> {
    this.#opening += 1;
    const worker = this.#reserve.shift() ?? this.#start();
    this.#reserve.push(this.#start());
    try {
      await worker.ask('open', this.#setup);
      this.#atWork.push(worker);
      void worker.exited.then(() => this.#isGone(worker));
    } catch {
      await worker.kill();
      await new Promise((resolve) => setTimeout(resolve, 200));
    } finally {
      this.#opening -= 1;
    }
  }

  #isGone(worker: WorkerProcess): void {
    if (!this.#atWork.includes(worker)) return;
    this.#atWork = this.#atWork.filter((other) => other !== worker);
    this.died += 1;
    void this.fill();
  }

  /** A worker that runs and is not stopped, if there is one; `place` chooses. */
  pick(place: number): WorkerProcess | undefined {
    const awake = this.#atWork.filter((worker) => !this.#stopped.has(worker));
    return awake[Math.floor(place * awake.length)];
  }

  /** SIGKILL, and another one in its place. */
  async kill(worker: WorkerProcess): Promise<void> {
    this.#atWork = this.#atWork.filter((other) => other !== worker);
    await worker.kill();
    this.kills += 1;
    void this.fill();
  }

  /** SIGSTOP for so long, then SIGCONT: a zombie, if the lease has run out meanwhile. */
  async stop(worker: WorkerProcess, ms: number): Promise<void> {
    this.#stopped.add(worker);
    this.stops += 1;
    signal(worker, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, ms));
    signal(worker, 'SIGCONT');
    this.#stopped.delete(worker);
  }

  /** Ends every process. */
  async end(): Promise<void> {
    const all = [...this.#atWork, ...this.#reserve];
    this.#atWork = [];
    await Promise.all(all.map((worker) => worker.kill()));
  }
}

function signal({ pid }: WorkerProcess, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It was killed meanwhile.
  }
}
