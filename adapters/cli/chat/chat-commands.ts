import { headerText, waitingText } from '../header-text.ts';
import type { SessionRecord } from '../session-record.ts';
import type { SharedOptions } from '../shared-options.ts';
import type { ChatScreen } from './chat-screen.ts';
import type { Conversation } from './conversation.ts';

/** What a line that begins with a slash can do. */
export interface CommandContext {
  conversation: Conversation;
  screen: ChatScreen;
  read: () => Promise<SessionRecord>;
  given: SharedOptions;
}

const COMMANDS: Readonly<Record<string, string>> = {
  '/history': 'the whole conversation',
  '/status': 'the session as the database has it',
  '/retry': 'ask again after a run that failed',
  '/cancel': 'close a run that waits',
  '/new': 'begin another conversation',
  '/exit': 'end; so do Ctrl-C and Ctrl-D',
  '/help': 'this',
};

/**
 * Does what a line says that begins with a slash.
 *
 * @returns `exit` and `new` where that is for the caller to do.
 */
export async function runCommand(line: string, context: CommandContext): Promise<'done' | 'exit' | 'new'> {
  const { conversation, screen } = context;
  switch (line.trim()) {
    case '/exit':
    case '/quit':
      return 'exit';
    case '/new':
      return 'new';
    case '/history':
      await screen.showTurns(await conversation.session.history());
      return 'done';
    case '/status':
      await showStatus(context);
      return 'done';
    case '/retry':
      await conversation.retry();
      return 'done';
    case '/cancel':
      await conversation.cancel();
      return 'done';
    case '/help':
      for (const [name, what] of Object.entries(COMMANDS)) screen.aside(`  ${name.padEnd(10)}${what}`);
      return 'done';
    default:
      screen.aside(
        'There is no such command; /help lists them. A message that begins with a slash is written with two.',
      );
      return 'done';
  }
}

async function showStatus({ screen, read, given }: CommandContext): Promise<void> {
  const record = await read();
  const { colours, columns } = screen.terminal;
  for (const line of headerText(record, colours, columns)) screen.aside(line);
  for (const line of waitingText(record, colours, given)) screen.aside(line);
}
