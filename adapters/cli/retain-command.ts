import { Command, Option } from 'commander';
import { parseAge } from './duration.ts';
import type { RetainCommandOptions } from './run-retain.ts';
import { optionsOf } from './shared-options.ts';
import { whole } from './whole.ts';

const EXAMPLES = `
Examples:
  $ turnlock retain --dry-run                      what the policies of turnlock.config.ts would remove
  $ turnlock retain --state COMPLETED FAILED --older-than 90d
  $ turnlock retain --tenant acme --state IDLE --older-than 365d --claims-older-than 730d
  $ turnlock retain --reads-older-than 365d        the policies, and what operators did a year ago
`;

/** `turnlock retain`. */
export function retainCommand(): Command {
  return new Command('retain')
    .description('remove sessions at rest that are older than a policy says, and business keys that outlived theirs')
    .option('--tenant <tenant>', 'only what is this tenant’s (default: all tenants)')
    .addOption(
      new Option(
        '--state <states...>',
        'sessions in these states (default: the policies of the configuration)',
      ).choices([...['IDLE', 'AWAITING_INPUT', 'FAILED', 'COMPLETED']]),
    )
    .option('--older-than <age>', 'and so old: 90d, 12h, 30m', parseAge)
    .option(
      '--claims-older-than <age>',
      'business keys whose session is gone, unchanged for so long (default: 365d)',
      parseAge,
    )
    .option(
      '--reads-older-than <age>',
      'what operators looked for and removed, so long ago; from 30d on (default: kept)',
      parseAge,
    )
    .option(
      '--memories-older-than <age>',
      'memories that expired or were superseded so long ago (default: kept)',
      parseAge,
    )
    .option('--batch <number>', 'sessions that one transaction removes', whole(1, 1_000), 20)
    .option('--instead-of-configured', 'also where the configuration keeps those sessions longer')
    .option('--dry-run', 'count what would go, and remove nothing')
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runRetain } = await import('./run-retain.ts');
      await runRetain(optionsOf<RetainCommandOptions>(command));
    });
}
