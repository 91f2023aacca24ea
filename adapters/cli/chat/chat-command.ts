import { Command, Option } from 'commander';
import { optionsOf } from '../shared-options.ts';
import type { ChatOptions } from './chat-options.ts';

const EXAMPLES = `
Without --agent and without agents in a configuration, it is the demonstration's support agent. The conversation is kept in the
database, by default in the folder .turnlock: end it at any moment, also with kill -9, and start again to go on.

Examples:
  $ turnlock chat                                       talk to the support agent
  $ turnlock chat --model anthropic                     with a model of Anthropic; ANTHROPIC_API_KEY is set
  $ turnlock chat --agent ./agents.ts --name support    talk to an agent of your own
  $ printf 'Order 42 arrived broken\\n' | turnlock chat   each line is a message
`;

/** `turnlock chat`. */
export function chatCommand(): Command {
  return new Command('chat')
    .description('talk to an agent in the terminal; the conversation survives the process')
    .option('--agent <file>', 'module that exports the agent; it brings its own model')
    .option('--name <name>', 'which of several agents')
    .option('--model <model>', 'scripted, openai, anthropic or gateway, with /MODEL for another one than the default')
    .option('--session <id>', 'external id of the conversation (default: the last one)')
    .addOption(new Option('--new', 'begin another conversation').conflicts('session'))
    .option('--tenant <tenant>', 'whose conversations', 'local')
    .option('--user <user>', 'who talks and settles calls, for session and audit', 'user')
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runChat } = await import('./run-chat.ts');
      await runChat(optionsOf<ChatOptions>(command));
    });
}
