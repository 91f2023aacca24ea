import type { FailedAttempt } from '../../../persistence/read-failed-attempt.ts';
import type { StoredTurn } from '../../../persistence/read-turns.ts';
import type { RunEvent } from '../../../runtime/run-event.ts';
import { escapeText } from '../escape-text.ts';
import type { Terminal } from '../terminal.ts';
import { shorten } from '../text-width.ts';
import { describeTransition, type FindExecution, type Transition } from './describe-transition.ts';
import { plainText, StreamedText } from './streamed-text.ts';

/** How a screen shows what comes. */
export interface ScreenOptions {
  /** Name of the agent. */
  agent: string;
  /** Whether a person sits at it: then replies are shown while they come, under a name. Else they are printed once they are stored. */
  isDialogue: boolean;
  find: FindExecution;
  /** Why an attempt of a model call failed. */
  whyFailed: WhyFailed;
}

/** Finds why an attempt failed, by the transition that says so. */
export type WhyFailed = (end: { runId: string; sequence: number }) => Promise<FailedAttempt | null>;

/** What ends an answer that was not stored. */
const VOIDING: ReadonlySet<string> = new Set(['model.attemptFailed', 'model.failed', 'limit.met', 'run.cancelled']);

/** Columns before what is said of calls. */
const INDENT = '  ';

/**
 * Shows a conversation: replies on standard output, all else beside it. What is stored counts: where it differs from what was shown while
 * it came, it is shown again.
 */
export class ChatScreen {
  readonly terminal: Terminal;
  readonly isDialogue: boolean;
  readonly #find: FindExecution;
  readonly #whyFailed: WhyFailed;
  readonly #agent: string;
  readonly #text = new StreamedText();
  /** What of the answer that comes was shown, raw. */
  #shown = '';
  #attempt = 0;
  /** What the line is of that was begun. */
  #open: 'text' | 'reasoning' | null = null;

  constructor(terminal: Terminal, { agent, isDialogue, find, whyFailed }: ScreenOptions) {
    this.terminal = terminal;
    this.isDialogue = isDialogue;
    this.#agent = escapeText(agent);
    this.#find = find;
    this.#whyFailed = whyFailed;
  }

  /** What stands before a line that a person types. */
  get prompt(): string {
    const { bold } = this.terminal.colours;
    return `${bold('you ›')} `;
  }

  /** One event of a run. */
  async show(event: RunEvent): Promise<void> {
    this.terminal.json(toJson(event));
    if (event.type === 'delta') this.#delta(event);
    else await this.#transition(event);
  }

  /** The words of turns that are stored, and each call in a line. */
  async showTurns(turns: readonly StoredTurn[]): Promise<void> {
    for (const { role, content, parts } of turns) {
      if (role === 'user') this.aside(`${this.prompt}${plainText(content)}`);
      if (role === 'assistant' && content !== '') this.aside(`${this.#label} ${plainText(content)}`);
      for (const part of parts as { type?: unknown; toolName?: unknown }[]) {
        if (part?.type === 'toolCall') this.quiet(`→ ${escapeText(String(part.toolName))}`);
      }
    }
  }

  /** A line that is no reply. */
  aside(text: string): void {
    this.#endLine();
    this.terminal.note(text);
  }

  /** A dim line below what is said, cut at the terminal's edge. */
  quiet(text: string): void {
    this.aside(this.terminal.colours.dim(`${INDENT}${shorten(text, this.terminal.columns - INDENT.length)}`));
  }

  get #label(): string {
    const { bold, cyan } = this.terminal.colours;
    return bold(cyan(`${this.#agent} ›`));
  }

  #delta({ kind, text, attempt }: Extract<RunEvent, { type: 'delta' }>): void {
    if (!this.isDialogue || text === '') return;
    if (attempt !== this.#attempt) this.#void();
    this.#attempt = attempt;
    if (this.#open !== kind) {
      this.#endLine();
      this.terminal.piece(kind === 'text' ? `${this.#label} ` : this.terminal.colours.dim(`${INDENT}thinks: `));
      this.#open = kind;
    }
    if (kind === 'text') this.#shown += text;
    this.#piece(this.#text.push(text));
  }

  async #transition(event: Transition): Promise<void> {
    if (VOIDING.has(event.event.type)) this.#void();
    if (event.event.type === 'model.attemptFailed') await this.#failedAttempt(event);
    this.#stored(event);
    for (const line of await describeTransition(event, this.#find)) this.quiet(line);
  }

  async #failedAttempt({ event, runId, sequence }: Transition): Promise<void> {
    this.quiet(`✗ no answer; the model is asked again in ${event.retryInMs} ms`);
    const why = runId === null ? null : await this.#whyFailed({ runId, sequence });
    if (why === null) return;
    this.aside(this.terminal.colours.dim(`${INDENT}  ${escapeText(why.code)}: ${escapeText(why.message)}`));
  }

  /** The stored words of the answer, unless they were shown as they are. */
  #stored({ event, turns }: Transition): void {
    const words = turns.find(({ role }) => role === 'assistant')?.content;
    if (words !== undefined && words !== this.#shown.toWellFormed()) {
      this.#void();
      if (words !== '') this.terminal.line(this.isDialogue ? `${this.#label} ${plainText(words)}` : plainText(words));
    }
    this.#endLine();
    if (words === '' && event.type === 'model.replied') this.quiet('the model replied without a word');
    this.#shown = '';
    this.#attempt = 0;
  }

  /** What stands there of an answer does not count. */
  #void(): void {
    this.#endLine();
    if (this.#shown !== '') this.quiet('✗ what stands above was not stored and does not count');
    this.#shown = '';
  }

  #piece(text: string): void {
    this.terminal.piece(this.#open === 'reasoning' ? this.terminal.colours.dim(text) : text);
  }

  #endLine(): void {
    if (this.#open === null) return;
    this.#piece(this.#text.end());
    this.terminal.line();
    this.#open = null;
  }
}

/** An event as `--json` prints it. */
function toJson(event: RunEvent): object {
  if (event.type === 'delta') return event;
  const { turns, ...rest } = event;
  return {
    ...rest,
    turns: turns.map(({ turnIndex, role, content, parts, executionId }) => ({
      turnIndex,
      role,
      content,
      parts,
      executionId,
    })),
  };
}
