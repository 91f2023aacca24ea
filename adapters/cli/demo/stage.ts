import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { childModule } from '../children/child-module.ts';
import { type Child, startChild } from '../children/start-child.ts';
import { type TemporaryFolder, temporaryFolder } from '../children/temporary-folder.ts';
import type { ModelChoice } from '../models/choose-model.ts';
import type { Committed } from './committed.ts';
import type { DemoSetup } from './demo-setup.ts';
import type { DemoWorkerMethods, DemoWorkerNotices } from './demo-worker.child.ts';
import type { LedgerEntry } from './ledger.ts';
import { type PaymentsService, startPayments } from './start-payments.ts';

/** A worker process with the number by which the story calls it. */
export interface NumberedWorker {
  readonly number: number;
  readonly process: Child<DemoWorkerMethods, DemoWorkerNotices>;
}

/** Told of what the processes do, as they do it. */
export interface Audience {
  committed(worker: NumberedWorker, sessionId: string, transition: Committed): void;
  wrote(entry: LedgerEntry): void;
}

const LEDGER = 'payments.jsonl';

/** The first order that is refunded. */
const FIRST_ORDER = 42;

/**
 * The processes of a demonstration: the payments service, which lives as long as this, and one worker at a time. The next worker is
 * started early and waits with its modules loaded, but has opened nothing.
 */
export class Stage {
  readonly ledgerFile: string;
  readonly setup: DemoSetup;
  readonly payments: PaymentsService;
  /** Whoever plays now. */
  audience: Audience | null = null;
  readonly #folder: TemporaryFolder;
  #orders = FIRST_ORDER;
  #started = 0;
  #current: NumberedWorker | null = null;
  #next: NumberedWorker;

  private constructor(folder: TemporaryFolder, payments: Stage['payments'], setup: DemoSetup) {
    this.#folder = folder;
    this.ledgerFile = join(folder.path, LEDGER);
    this.payments = payments;
    this.setup = setup;
    payments.on('wrote', (entry) => this.audience?.wrote(entry));
    this.#next = this.#start();
  }

  /** Starts the payments service. `database`: absent for an embedded one that is gone afterwards. */
  static async open({ database, model }: { database: string | undefined; model: ModelChoice }): Promise<Stage> {
    const folder = await temporaryFolder('demo');
    const payments = startPayments();
    const { port } = await payments.ask('open', { ledgerFile: join(folder.path, LEDGER) });
    const place = database ?? join(folder.path, 'database');
    return new Stage(folder, payments, { database: place, tenantId: `demo-${randomUUID()}`, port, model });
  }

  /** The worker that has the database open; one is begun where there is none. */
  async worker(): Promise<NumberedWorker> {
    if (this.#current !== null) return this.#current;
    const worker = this.#next;
    this.#next = this.#start();
    await worker.process.ask('open', this.setup);
    this.#current = worker;
    return worker;
  }

  /** Sends SIGKILL to the worker. */
  async killWorker(): Promise<void> {
    const worker = this.#current;
    this.#current = null;
    await worker?.process.kill();
  }

  /** Ends the workers, so that another process may have the database. */
  async endWorkers(): Promise<void> {
    await Promise.all([this.killWorker(), this.#next.process.kill()]);
  }

  /** An order that nobody has complained about yet. */
  nextOrder(): string {
    this.#orders += 1;
    return String(this.#orders - 1);
  }

  #start(): NumberedWorker {
    this.#started += 1;
    const worker: NumberedWorker = {
      number: this.#started,
      process: startChild(childModule(import.meta.url, 'demo-worker.child')),
    };
    worker.process.on('committed', ({ sessionId, transition }) =>
      this.audience?.committed(worker, sessionId, transition),
    );
    return worker;
  }

  /** Ends every process and removes the folder. */
  async close(): Promise<void> {
    await Promise.all([this.#current?.process.kill(), this.#next.process.kill(), this.payments.kill()]);
    await this.#folder.remove();
  }
}
