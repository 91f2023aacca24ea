import { Command, Option } from 'commander';
import type { PreflightCommandOptions } from './run-preflight.ts';
import { optionsOf } from './shared-options.ts';
import { whole } from './whole.ts';

const EXAMPLES = `
Examples:
  $ turnlock preflight --config ./dist/turnlock.config.js --database "$PRODUCTION_URL"
  $ turnlock preflight --tenant acme --json | jq '.problems'
`;

/** `turnlock preflight`. */
export function preflightCommand(): Command {
  return new Command('preflight')
    .description('before a deploy: what the agents of the configuration could not go on with in this database')
    .option('--tenant <tenant>', 'sessions of this tenant; left out: of all, which the database records')
    .addOption(
      new Option('--except <agent>', 'leave out an agent of another service; may be given several times').argParser(
        (agent: string, before: string[] = []) => [...before, agent],
      ),
    )
    .option('--page-size <sessions>', 'how many are looked at in one short transaction', whole(1, 10_000), 200)
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runPreflight } = await import('./run-preflight.ts');
      await runPreflight(optionsOf<PreflightCommandOptions>(command));
    });
}
