import { isTurnlockError } from '../../../errors.ts';
import { isResting } from '../../../machines/session-state.ts';
import type { Run } from '../../../runtime/run.ts';
import type { AwaitedExecution, RunResult } from '../../../runtime/run-event.ts';
import type { Session } from '../../../runtime/session-handle.ts';
import { escapeText } from '../escape-text.ts';
import { EXIT_CODES, type ExitCode, exitCodeOf } from '../exit-codes.ts';
import { reportError } from '../report-error.ts';
import type { SessionRecord } from '../session-record.ts';
import { settleCommands } from '../settle-commands.ts';
import type { SharedOptions } from '../shared-options.ts';
import { askOutcome, type Outcome, waitingText } from './ask-outcome.ts';
import type { ChatInput } from './chat-input.ts';
import type { ChatScreen } from './chat-screen.ts';
import { missedTransitions } from './missed-transitions.ts';

/** What a conversation is held with. */
export interface ConversationParts {
  session: Session;
  screen: ChatScreen;
  input: ChatInput;
  /** Who settles calls, as the audit names them. */
  by: string;
  /** Opens another session of the tenant: a child that asks. */
  open: (sessionId: string) => Promise<Session>;
  /** Reads all rows of the session. */
  read: () => Promise<SessionRecord>;
  /** How the database was named, for commands that are shown. */
  given: SharedOptions;
}

/** One session as a conversation: messages go in, runs are shown until they rest, and what waits for a person is asked. */
export class Conversation {
  readonly session: Session;
  readonly #parts: ConversationParts;
  /** How it stands for a script: what the last message came to. */
  exitCode: ExitCode = EXIT_CODES.ok;

  constructor(parts: ConversationParts) {
    this.session = parts.session;
    this.#parts = parts;
  }

  /** Brings a run to rest that a process left behind, and asks what waits. Nothing is begun. */
  async resume(): Promise<void> {
    const { state, version } = await this.session.status();
    if (!isResting(state)) {
      this.#parts.screen.aside(
        this.#colours.yellow('↻ The last run was interrupted. It goes on from its last commit:'),
      );
    }
    const run = await this.session.resume();
    if (run !== null) await this.#follow(run, version);
  }

  /** Sends a message and shows the run. Calls that wait are asked first; as long as one is left, nothing is sent. */
  async say(text: string): Promise<void> {
    const { awaiting, version } = await this.session.status();
    if (awaiting.some(isToBeDecided) && this.#parts.screen.isDialogue) await this.#askNext(awaiting);
    if ((await this.session.status()).awaiting.some(isToBeDecided) && this.#parts.screen.isDialogue) {
      this.#parts.screen.aside('Not sent: a call still waits for you. /cancel closes the run as it is.');
      return;
    }
    await this.#follow(await this.session.send(text, { messageId: crypto.randomUUID(), whenBusy: 'reject' }), version);
  }

  /** Begins a new run where the last one FAILED. */
  async retry(): Promise<void> {
    const { version } = await this.session.status();
    await this.#follow(await this.session.retry({ by: this.#parts.by }), version);
  }

  /** Closes the run that waits. */
  async cancel(): Promise<void> {
    const { state } = await this.session.status();
    await this.session.cancel({ by: this.#parts.by });
    this.#parts.screen.aside(
      state === 'AWAITING_INPUT' ? 'The run is closed; what is not known stays unknown.' : 'There is no run.',
    );
  }

  /**
   * Runs a step and says what went wrong with it; what ends the process passes.
   *
   * @returns whether it came to its end.
   */
  async attempt(step: () => Promise<void>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      const isFatal = !isTurnlockError(error) || error.category === 'bug' || error.code === 'RUNTIME_CLOSED';
      if (isFatal) throw error;
      reportError(error, this.#parts.given);
      this.exitCode = exitCodeOf(error);
      return false;
    }
  }

  get #colours() {
    return this.#parts.screen.terminal.colours;
  }

  /** Shows a run until it rests, and what it rests with. `seen`: the last transition that is known already. */
  async #follow(run: Run, seen: number): Promise<void> {
    const { screen } = this.#parts;
    let last = seen;
    let isShown = false;
    for await (const event of run) {
      await screen.show(event);
      if (event.type !== 'transition') continue;
      last = event.sequence;
      isShown = isResting(event.to);
    }
    const result = await run.result();
    if (!isShown) for (const missed of missedTransitions(await this.#parts.read(), last)) await screen.show(missed);
    await this.#rest(result);
  }

  async #rest(result: RunResult): Promise<void> {
    const { screen } = this.#parts;
    screen.terminal.json({ type: 'result', ...result });
    this.exitCode = EXIT_CODES.ok;
    if (result.state === 'FAILED') {
      this.exitCode = EXIT_CODES.failed;
      const { code = 'FAILED', message = '' } = result.error ?? {};
      screen.aside(`${this.#colours.red(`✗ ${escapeText(code)}`)}: ${escapeText(message)}`);
      screen.aside('  The session holds everything up to here. /retry asks again, /new begins another conversation.');
    }
    if (result.state === 'COMPLETED') screen.aside('The conversation is complete. /new begins another.');
    if (result.awaiting.length === 0) return;
    if (screen.isDialogue) await this.#askNext(result.awaiting);
    else this.#sayWhatWaits(result.awaiting);
  }

  /** The first call that waits; the run that follows comes back here for the next one. */
  async #askNext(awaiting: readonly AwaitedExecution[]): Promise<void> {
    const { screen, input, by } = this.#parts;
    const call = awaiting.find(isToBeDecided);
    if (call === undefined) {
      for (const question of awaiting) for (const line of waitingText(question, this.#colours)) screen.aside(line);
      return;
    }
    const outcome = await askOutcome(call, { screen, input, by });
    if (outcome === null) {
      screen.aside(this.#colours.dim('  It waits. The next message, or the next start, asks again.'));
      return;
    }
    const { version } = await this.session.status();
    await this.#follow(await this.#decide(call, outcome), version);
  }

  /** The run that follows. Where a child asks, it goes on first, and this session after it. */
  async #decide(call: AwaitedExecution, outcome: Outcome): Promise<Run> {
    const { sessionId } = call;
    const isOwn = sessionId === this.session.sessionId;
    const asker = isOwn ? this.session : await this.#parts.open(sessionId);
    const run = await decideIn(asker, call, outcome);
    if (isOwn) return run;
    await run.result();
    return (await this.session.resume()) ?? run;
  }

  #sayWhatWaits(awaiting: readonly AwaitedExecution[]): void {
    const { screen, given } = this.#parts;
    this.exitCode = EXIT_CODES.refused;
    for (const call of awaiting) {
      for (const line of waitingText(call, this.#colours)) screen.aside(line);
      const { tenantId } = this.session;
      for (const command of settleCommands({ ...call, tenantId }, given)) screen.aside(`  ${command}`);
    }
  }
}

/** A question of the agent is answered by the next message. */
function isToBeDecided({ reason }: AwaitedExecution): boolean {
  return reason !== 'answer';
}

function decideIn(
  session: Session,
  { executionId, approvalId, digest }: AwaitedExecution,
  outcome: Outcome,
): Promise<Run> {
  if ('outcome' in outcome) return session.settle(executionId, { ...outcome, approvalId });
  const { by } = outcome;
  if (outcome.decision === 'approve') return session.approve(executionId, { by, approvalId, digest });
  return session.deny(executionId, { by, reason: outcome.reason, approvalId, digest });
}
