import { constants } from 'node:os';
import { isTurnlockError } from '../../../errors.ts';
import { readExecution } from '../../../persistence/read-execution.ts';
import { readFailedAttempt } from '../../../persistence/read-failed-attempt.ts';
import type { Session } from '../../../runtime/session-handle.ts';
import { escapeText } from '../escape-text.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { readSessionRecord } from '../session-record.ts';
import { openTerminal, type Terminal } from '../terminal.ts';
import { runCommand } from './chat-commands.ts';
import { type ChatInput, pipedInput, terminalInput } from './chat-input.ts';
import type { ChatOptions } from './chat-options.ts';
import { ChatScreen, type WhyFailed } from './chat-screen.ts';
import { Conversation } from './conversation.ts';
import { beginConversation, findConversation, type Parties } from './find-conversation.ts';
import { type OpenChat, withChat } from './with-chat.ts';

/** How many messages of an older conversation are shown at the start, with what followed them. */
const SHOWN_MESSAGES = 2;

/** Does what `turnlock chat` says. */
export async function runChat(options: ChatOptions): Promise<void> {
  const terminal = openTerminal(options);
  const isDialogue = terminal.isInteractive && process.stdin.isTTY === true;
  if (isDialogue) terminal.note(terminal.colours.dim('Opening …'));
  const wasStopped = await withChat(options, terminal, async (open) => {
    const input = isDialogue ? terminalInput() : pipedInput();
    const stopping = stopOnSignals(open, terminal, input);
    try {
      await converse(open, options, { terminal, input, isDialogue });
    } catch (error) {
      if (!stopping.isStopped() || !isTurnlockError(error, 'RUNTIME_CLOSED')) throw error;
    } finally {
      input.end();
      await stopping.end();
    }
    return stopping.isStopped();
  });
  if (wasStopped) terminal.note('Stopped. Nothing is lost: the next start goes on from the last commit.');
  else if (isDialogue) terminal.note(terminal.colours.dim('The conversation is kept: start again to go on.'));
}

interface Around {
  terminal: Terminal;
  input: ChatInput;
  isDialogue: boolean;
}

async function converse(open: OpenChat, options: ChatOptions, { terminal, input, isDialogue }: Around): Promise<void> {
  const { runtime, store, given, chosen } = open;
  const parties = { tenantId: options.tenant, userId: options.user, agent: chosen.agent.name };
  let session = await (options.new
    ? beginConversation(runtime, parties)
    : findConversation(runtime, parties, options.session));
  for (;;) {
    const { sessionId, tenantId } = session;
    const key = { sessionId, tenantId };
    const read = () => readSessionRecord(store, key);
    const find = (executionId: string) => readExecution(store, key, executionId);
    const whyFailed: WhyFailed = (end) => readFailedAttempt(store, key, end);
    const screen = new ChatScreen(terminal, { agent: parties.agent, isDialogue, find, whyFailed });
    const openOther = (sessionId: string) => runtime.session({ tenantId, sessionId });
    const parts = { session, screen, input, by: options.user, open: openOther, read, given };
    const conversation = new Conversation(parts);
    await introduce(open, session, screen, parties);
    const isOver = await talk(conversation, { screen, input, read, given });
    if (!isDialogue && conversation.exitCode !== EXIT_CODES.ok) process.exitCode ??= conversation.exitCode;
    if (isOver) return;
    session = await beginConversation(runtime, parties);
  }
}

/** Says who talks to whom, shows the end of what was said, and brings it to rest. */
async function introduce(open: OpenChat, session: Session, screen: ChatScreen, parties: Parties): Promise<void> {
  const { chosen, place } = open;
  const { externalId, state, version } = await session.status();
  const { terminal } = screen;
  const { bold, dim } = terminal.colours;
  terminal.json({
    type: 'session',
    sessionId: session.sessionId,
    ...parties,
    externalId,
    modelId: chosen.agent.model.modelId,
    state,
    version,
  });
  screen.aside(`${bold(escapeText(parties.agent))}${dim(`, answered by ${escapeText(chosen.modelText)}`)}`);
  screen.aside(
    dim(`session ${escapeText(externalId ?? session.sessionId)} in ${escapeText(place)}; /help lists commands`),
  );
  if (screen.isDialogue) await showEnd(session, screen);
}

async function showEnd(session: Session, screen: ChatScreen): Promise<void> {
  const turns = await session.history();
  const messages = turns.flatMap(({ role }, place) => (role === 'user' ? [place] : []));
  const from = messages.at(-SHOWN_MESSAGES) ?? 0;
  const { dim } = screen.terminal.colours;
  if (from > 0) screen.aside(dim(`  … ${from} earlier turns; /history shows all`));
  await screen.showTurns(turns.slice(from));
}

interface Talk {
  screen: ChatScreen;
  input: ChatInput;
  read: () => ReturnType<typeof readSessionRecord>;
  given: ChatOptions;
}

/**
 * Reads lines until there are no more. In a script the first message that is refused ends it.
 *
 * @returns `false` when another conversation is to begin.
 */
async function talk(conversation: Conversation, { screen, input, read, given }: Talk): Promise<boolean> {
  if (!(await conversation.attempt(() => conversation.resume())) && !screen.isDialogue) return true;
  for (;;) {
    const line = await input.read(screen.prompt);
    if (line === null) return true;
    if (line.trim() === '') continue;
    let next: 'done' | 'exit' | 'new' = 'done';
    const isDone = await conversation.attempt(async () => {
      if (!line.startsWith('/') || line.startsWith('//')) await conversation.say(line.replace(/^\/\//, '/'));
      else next = await runCommand(line, { conversation, screen, read, given });
    });
    if (!isDone && !screen.isDialogue) return true;
    if (next !== 'done') return next === 'exit';
  }
}

/**
 * A signal lets what is under way come to its end, and closes: the run is not cancelled, the next start goes on with it. A second one ends
 * the process at once, which loses nothing either.
 */
function stopOnSignals({ runtime }: OpenChat, terminal: Terminal, input: ChatInput) {
  let closing: Promise<void> | null = null;
  const stop = (signal: NodeJS.Signals): void => {
    process.exitCode = 128 + constants.signals[signal];
    terminal.note('\nStopping: what is under way comes to its end first. Once more to stop at once.');
    input.end();
    closing = runtime.close();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, stop);
  return {
    isStopped: () => closing !== null,
    /** The second signal counts until everything is closed. */
    async end() {
      await closing;
      for (const signal of signals) process.off(signal, stop);
    },
  };
}
