import { Command, Option } from 'commander';
import type { DoctorCommandOptions } from './run-doctor.ts';
import { optionsOf } from './shared-options.ts';
import { whole } from './whole.ts';

const MAX_SECONDS = 86_400;

const EXAMPLES = `
Examples:
  $ turnlock doctor --all
  $ turnlock doctor --all --quick --stuck-after 300
  $ turnlock doctor 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10
  $ turnlock doctor --all --json | jq -r 'select(.severity == "error")'
`;

/** `turnlock doctor`. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('look for what is not as it must be, and say what repairs it; changes nothing')
    .argument('[session]', 'id of a session: it alone')
    .option('--tenant <tenant>', 'sessions of this tenant; with a session, whose it is')
    .addOption(new Option('--all', 'sessions of every tenant, which the database records').conflicts('tenant'))
    .option('--quick', 'leave out the audit, of which every row is read: for looks that are made again and again')
    .option('--stuck-after <seconds>', 'how long work may be owed with nobody at it', whole(0, MAX_SECONDS), 60)
    .option('--page-size <sessions>', 'how many are looked at in one short transaction', whole(1, 10_000), 500)
    .addHelpText('after', EXAMPLES)
    .action(async (session: string | undefined, _options, command: Command) => {
      const { runDoctor } = await import('./run-doctor.ts');
      await runDoctor(session, optionsOf<DoctorCommandOptions>(command));
    });
}
