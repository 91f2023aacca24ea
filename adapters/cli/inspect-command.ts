import { Command, Option } from 'commander';
import type { InspectCommandOptions } from './run-inspect.ts';
import { optionsOf } from './shared-options.ts';
import { whole } from './whole.ts';

const EXAMPLES = `
Without --decide it only reads. It needs no agents; with those of the configuration it also says what is stranded, and with --decide the
sessions go on here once a person has decided.

The token for another address than loopback stands in TURNLOCK_INSPECTOR_TOKEN or in the file of --token-file, never among the options,
which every process of the machine can read.

Examples:
  $ turnlock inspect --database ./data
  $ turnlock inspect --tenant acme --decide --by ana --role lead
  $ TURNLOCK_INSPECTOR_TOKEN=$(openssl rand -hex 24) turnlock inspect --host 0.0.0.0 --port 8080
`;

/** `turnlock inspect`. */
export function inspectCommand(): Command {
  return new Command('inspect')
    .description('show sessions on a page, until it is stopped')
    .option('--tenant <tenant>', 'whose; left out: of all, which needs the rights of turnlock_operator and is recorded')
    .option('--port <port>', 'where to listen, 0 for any that is free (default: 4713, or a free one)', whole(0, 65_535))
    .option('--host <address>', 'where to listen; beyond loopback a token is wanted', '127.0.0.1')
    .option('--decide', 'let who looks approve, deny and settle, in the name of --by')
    .option('--by <who>', 'who decides, as the audit will say it')
    .addOption(new Option('--role <role>', 'a role of that person; may be given more than once').argParser(collect))
    .option('--token-file <file>', 'file with the secret that whoever looks is asked for, at least 16 characters')
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runInspect } = await import('./run-inspect.ts');
      await runInspect(optionsOf<InspectCommandOptions>(command));
    });
}

function collect(text: string, before: string[] = []): string[] {
  return [...before, text];
}
