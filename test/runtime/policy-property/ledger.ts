import { setTimeout as pause } from 'node:timers/promises';
import { gate } from '../../support/runtime-script.ts';

/** One act, as the outside world saw it. */
export interface Act {
  executionId: string;
  sessionId: string;
  runId: string;
  tool: string;
  n: number;
  key: string;
  attempt: number;
  /** Rises with everything that happens. */
  moment: number;
}

/** What a person decided about a call. */
export interface Say {
  executionId: string;
  does: 'grant' | 'deny' | 'succeeded' | 'failed' | 'runAgain';
  by: string;
  /** Of a grant with other params. */
  n: number | null;
  /** `null`: nobody knows whether it was taken, since the process that took it died. */
  isTaken: boolean | null;
  moment: number;
}

/** What happened outside the database, what people said, and the gates at which tools wait. It outlives the processes. */
export class Ledger {
  readonly acts: Act[] = [];
  readonly says: Say[] = [];
  /** What is wrong with a history that a model was given. */
  readonly invalid: string[] = [];
  readonly #waiting: (() => void)[] = [];
  /** Of these nobody takes note: their time is over before anybody could. */
  readonly #unseen: (() => void)[] = [];
  #moment = 0;
  #isCalm = false;

  act(act: Omit<Act, 'moment'>): void {
    this.acts.push({ ...act, moment: this.#next() });
  }

  /** Notes what somebody is about to say; what became of it is put in later. */
  say(say: Pick<Say, 'executionId' | 'does' | 'by' | 'n'>): Say {
    const said: Say = { ...say, isTaken: null, moment: this.#next() };
    this.says.push(said);
    return said;
  }

  /** Something was taken or refused; what happens from now on is later. */
  answered(said: Say, isTaken: boolean): void {
    Object.assign(said, { isTaken, moment: this.#next() });
  }

  hasActed(executionId: string): boolean {
    return this.acts.some((act) => act.executionId === executionId);
  }

  get isHolding(): boolean {
    return this.#waiting.length > 0;
  }

  /** Waits at a gate until it is opened; rejects when `signal` aborts first. What is `isBrief` runs out of time there. */
  async hold(signal: AbortSignal | null, isBrief: boolean): Promise<void> {
    if (this.#isCalm) return;
    const { opened, open } = gate();
    const gates = isBrief ? this.#unseen : this.#waiting;
    gates.push(open);
    const leave = (): void => {
      const place = gates.indexOf(open);
      if (place >= 0) gates.splice(place, 1);
    };
    if (signal === null) return opened;
    await new Promise<void>((resolve, reject) => {
      void opened.then(resolve);
      const abort = (): void => {
        leave();
        reject(signal.reason);
      };
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Resolves when a tool waits, or `signal` aborts. */
  async held(signal: AbortSignal): Promise<void> {
    while (!this.isHolding && !signal.aborted) await pause(3);
  }

  release(): void {
    for (const open of [...this.#waiting.splice(0), ...this.#unseen.splice(0)]) open();
  }

  /** From now on nothing waits any more. */
  calm(): void {
    this.#isCalm = true;
    this.release();
  }

  #next(): number {
    this.#moment += 1;
    return this.#moment;
  }
}
