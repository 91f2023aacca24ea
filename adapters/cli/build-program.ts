import { createRequire } from 'node:module';
import { Command } from 'commander';
import { addSharedOptions } from './shared-options.ts';
import { hasColours } from './terminal.ts';

const EXAMPLES = `
Examples:
  $ turnlock migrate --database postgres://localhost/app
  $ turnlock sessions --tenant acme --state AWAITING_INPUT
  $ turnlock show 4f9c6a3e-0d55-4c3b-9a53-0a4a2c1c7b10 --tenant acme
`;

/** The command line with all its commands; nothing runs before it is parsed. */
export function buildProgram(commands: readonly Command[]): Command {
  const program = new Command('turnlock');
  addSharedOptions(program)
    .description('Sessions of AI agents on PostgreSQL: migrate, look, settle, recover.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this')
    .helpCommand('help [command]', 'print what a command does')
    .addHelpText('after', EXAMPLES)
    .configureHelp({ showGlobalOptions: true, styleTitle: bold })
    .configureOutput({
      outputError: () => undefined, // `runCli` reports it
      getOutHasColors: () => hasColours(process.stdout),
      getErrHasColors: () => hasColours(process.stderr),
    })
    .exitOverride();
  for (const command of commands) program.addCommand(inherit(command, program));
  return program;
}

function inherit(command: Command, program: Command): Command {
  command.copyInheritedSettings(program);
  for (const inner of command.commands) inherit(inner, program);
  return command;
}

function bold(title: string): string {
  return `\u001b[1m${title}\u001b[22m`;
}

function readVersion(): string {
  const { version } = createRequire(import.meta.url)('turnlock/package.json') as { version: string };
  return version;
}
