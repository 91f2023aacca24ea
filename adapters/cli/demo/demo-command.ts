import { Command } from 'commander';
import { optionsOf } from '../shared-options.ts';
import type { DemoOptions } from './run-demo.ts';

const EXAMPLES = `
The database is an embedded one in a temporary folder unless --database is given; a configuration is not read.
The model is a script unless OPENAI_API_KEY, ANTHROPIC_API_KEY or AI_GATEWAY_API_KEY is set, or --model names another one.
Exits with 0 only if everything that it claims held.

Examples:
  $ turnlock demo                                         play, then choose what comes next
  $ turnlock demo --once                                  play both scenarios and end
  $ turnlock demo --once --inspect                        play both, then open the inspector on what they left
  $ turnlock demo --model scripted                        with the script, whatever keys are set
  $ turnlock demo --database postgres://localhost/scratch on a server, where the sessions stay
`;

/** `turnlock demo`. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('watch a worker be killed in the middle of a refund, and what comes after')
    .option('--once', 'play both scenarios and end, also on a terminal')
    .option('--inspect', 'then show the sessions on a page, until it is stopped')
    .option('--model <model>', 'scripted, openai, anthropic or gateway, with /MODEL for another one than the default')
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runDemo } = await import('./run-demo.ts');
      await runDemo(optionsOf<DemoOptions>(command));
    });
}
