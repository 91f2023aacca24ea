import { Argument, Command, Option } from 'commander';
import { MEMORY_KINDS } from '../../../persistence/entities/agent-memory.entity.ts';
import { optionsOf } from '../shared-options.ts';
import { whole } from '../whole.ts';
import type { MemoryAction, MemoryCommandOptions } from './run-memory.ts';

const EXAMPLES = `
Examples:
  $ turnlock memory list --tenant acme --user ana
  $ turnlock memory recall "what does she drink" --tenant acme --user ana
  $ turnlock memory forget --tenant acme --user ana --id 5f0c2c1e-0d55-4c3b-9a53-0a4a2c1c7b10
  $ turnlock memory reembed --dry-run              what it would do
  $ turnlock memory reembed                        make the vectors that are missing, or all for another model
`;

const ACTIONS: MemoryAction[] = ['list', 'recall', 'forget', 'reembed'];

/** `turnlock memory`. */
export function memoryCommand(): Command {
  return new Command('memory')
    .description('look at what is remembered of a user, forget some of it, make vectors anew')
    .addArgument(new Argument('<action>', 'what to do').choices(ACTIONS))
    .argument('[query]', 'of recall: what is looked for')
    .option('--tenant <tenant>', 'whose user; of all actions but reembed')
    .option('--user <user>', 'whose memories; of all actions but reembed')
    .addOption(new Option('--kind <kinds...>', 'only these').choices(MEMORY_KINDS))
    .option('--limit <number>', 'of list and recall: how many at the most', whole(1, 100), 20)
    .option('--id <ids...>', 'of forget: these memories')
    .option('--all', 'of forget: every memory of the user, or all of a kind')
    .option('--dry-run', 'of reembed: say what would be done, and do nothing')
    .addHelpText('after', EXAMPLES)
    .action(async (action: MemoryAction, query: string | undefined, _options, command: Command) => {
      const { runMemory } = await import('./run-memory.ts');
      await runMemory(action, query, optionsOf<MemoryCommandOptions>(command));
    });
}
