import { Command, Option } from 'commander';
import { ROUND_KINDS } from '../../persistence/entities/agent-approval.entity.ts';
import type { RunAwaitingOptions } from './run-awaiting.ts';
import { optionsOf } from './shared-options.ts';
import { whole } from './whole.ts';

const MAX_LIMIT = 1_000;

const EXAMPLES = `
Examples:
  $ turnlock awaiting --tenant acme
  $ turnlock awaiting --tenant acme --reason approval --user ana
  $ turnlock awaiting --database .turnlock --json | jq -r .executionId
`;

/** `turnlock awaiting`. */
export function awaitingCommand(): Command {
  return new Command('awaiting')
    .description('list what people are asked, those that were asked first first')
    .option('--tenant <tenant>', 'whose; may be left out on an embedded database, for all')
    .option('--user <user>', 'only what concerns sessions of this user')
    .option('--session <session>', 'only what this session asks')
    .addOption(new Option('--reason <reason>', 'only these').choices(ROUND_KINDS))
    .option('--limit <number>', `how many at the most, up to ${MAX_LIMIT}`, whole(1, MAX_LIMIT), 50)
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runAwaiting } = await import('./run-awaiting.ts');
      await runAwaiting(optionsOf<RunAwaitingOptions>(command));
    });
}
