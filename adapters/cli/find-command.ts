import { Command, Option } from 'commander';
import type { FindOptions } from './run-find.ts';
import { optionsOf } from './shared-options.ts';
import { whole } from './whole.ts';

const MAX_LIMIT = 1_000;

const EXAMPLES = `
Examples:
  $ turnlock find --metadata orderId=42 --tenant acme
  $ turnlock find --external-id ticket-8812
  $ turnlock find --key 4d1c0e…
  $ turnlock find --metadata traceId=4bf92f3577b34da6a3ce929d0e0e4736 --json | jq -r .sessionId
`;

/** `turnlock find`. */
export function findCommand(): Command {
  return new Command('find')
    .description('find sessions, of one tenant or of all; a look across tenants is recorded')
    .option('--tenant <tenant>', 'whose; left out: of all, which needs the rights of turnlock_operator')
    .addOption(
      new Option('--metadata <name=value>', 'whose metadata has this; JSON where it is JSON, else text').argParser(
        collect,
      ),
    )
    .option('--external-id <id>', 'with this id of the caller’s')
    .option('--execution <execution>', 'that have this tool execution')
    .option('--key <key>', 'that have a tool execution with this idempotency key')
    .option('--run <run>', 'that have this run')
    .option('--message <id>', 'that were sent a message with this id of the caller’s')
    .option('--user <user>', 'and only this user’s')
    .option('--agent <agent>', 'and only this agent’s')
    .option('--limit <number>', `how many at the most, up to ${MAX_LIMIT}`, whole(1, MAX_LIMIT), 50)
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runFind } = await import('./run-find.ts');
      await runFind(optionsOf<FindOptions>(command));
    });
}

function collect(text: string, before: string[] = []): string[] {
  return [...before, text];
}
