import type { SessionState } from '../../../machines/session-state.ts';
import type { ExecutionRow } from '../../../persistence/row-changes.ts';
import { escapeText } from '../escape-text.ts';
import { STATE_COLOURS } from '../state-colour.ts';
import type { Terminal } from '../terminal.ts';
import { shorten } from '../text-width.ts';
import type { Committed } from './committed.ts';
import { formatMoney } from './format-money.ts';
import type { LedgerEntry } from './ledger.ts';
import { LedgerQueue } from './ledger-queue.ts';
import type { Verdict } from './play.ts';
import type { Scenario } from './scenario.ts';
import type { NumberedWorker } from './stage.ts';

const ACTOR_WIDTH = 8;
const EVENT_WIDTH = 19;
const STATE_WIDTH = 'EXECUTING_TOOL'.length;
/** Columns before an event's name. */
const EVENT_AT = 18;
const MIN_ABOUT_WIDTH = 16;

const VERDICTS: Record<Verdict, string> = {
  succeeded: 'settles the call: it happened',
  failed: 'settles the call: it did not happen',
  runAgain: 'decides: run it again, with the same key',
};

/** Tells what happens while it happens: a line for each fact, with the seconds since the scenario began and who did it. */
export class Story {
  readonly #terminal: Terminal;
  readonly #ledger = new LedgerQueue((entry, arrivedAt) => this.#say('payments', this.#entryText(entry), arrivedAt));
  #beganAt = 0;
  #saidAt = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  begins({ number, effect, says }: Scenario, message: string): void {
    const { bold, dim } = this.#terminal.colours;
    this.#terminal.line();
    this.#terminal.line(`${bold(`${number}  effect: '${effect}'`)}  ${dim(says)}`);
    this.#terminal.line();
    this.#beganAt = performance.now();
    this.#say('customer', `“${message}”`);
  }

  committed(worker: NumberedWorker, transition: Committed): void {
    const { event, to, about, words, agoMs } = transition;
    const { dim } = this.#terminal.colours;
    const at = performance.now() - Math.max(0, agoMs);
    const name = event.padEnd(EVENT_WIDTH);
    const width = Math.max(MIN_ABOUT_WIDTH, this.#terminal.columns - EVENT_AT - name.length - STATE_WIDTH - 5);
    const state = `→ ${this.#state(to)}${' '.repeat(STATE_WIDTH - to.length)}`;
    const rest = about === '' ? `→ ${this.#state(to)}` : `${state}  ${dim(shorten(about, width))}`;
    this.#say(`worker ${worker.number}`, `${name} ${rest}`, at);
    for (const { role, text } of words) if (role === 'assistant') this.#say('agent', `“${escapeText(text)}”`, at);
    this.#ledger.started(transition);
  }

  wrote(entry: LedgerEntry): void {
    this.#ledger.add(entry, performance.now());
  }

  killed({ number, process }: NumberedWorker): void {
    const { red } = this.#terminal.colours;
    this.#say('kill -9', red(`worker ${number} (process ${process.pid}) is dead; the answer reached nobody`));
  }

  recovers({ number }: NumberedWorker): void {
    this.#say(`worker ${number}`, 'is a new process and calls runtime.recover()');
  }

  waits({ toolName, attempt }: ExecutionRow): void {
    const { yellow } = this.#terminal.colours;
    this.#say('person', yellow(`is asked: attempt ${attempt} of ${toolName} began, and nothing says how it ended`));
  }

  settled(verdict: Verdict): void {
    this.#say('person', VERDICTS[verdict]);
  }

  /** A line never goes back in time: what was read later may have been committed a little earlier. */
  #say(actor: string, text: string, at = performance.now()): void {
    const { dim, cyan } = this.#terminal.colours;
    this.#saidAt = Math.max(this.#saidAt, at, this.#beganAt);
    const seconds = ((this.#saidAt - this.#beganAt) / 1_000).toFixed(2).padStart(6);
    this.#terminal.line(`${dim(seconds)}  ${cyan(actor.padEnd(ACTOR_WIDTH))}  ${text}`);
  }

  #state(state: SessionState): string {
    return this.#terminal.colours[STATE_COLOURS[state]](state);
  }

  #entryText(entry: LedgerEntry): string {
    switch (entry.kind) {
      case 'refundRequested':
        return `is asked to refund ${formatMoney(entry.cents)}, key …${entry.key.slice(-6)}`;
      case 'refundBooked':
        return `books ${entry.refundId}; its answer is on the way`;
      case 'refundRepeated':
        return `knows the key: that is ${entry.refundId}, nothing is booked`;
      case 'answerLost':
        return 'finds nobody to answer';
      case 'customerTold':
        return `writes to the customer: ${escapeText(entry.text)}`;
    }
  }
}
