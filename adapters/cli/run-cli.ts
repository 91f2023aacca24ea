import { CommanderError } from 'commander';
import { TurnlockError } from '../../errors.ts';
import { allCommands } from './all-commands.ts';
import { buildProgram } from './build-program.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { reportError } from './report-error.ts';

/**
 * Runs the command line on `args` (without node and script).
 *
 * @returns the exit code. Everything printed is with the operating system by then.
 */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = buildProgram(allCommands());
  const shared = { json: beforeDashes(args).includes('--json'), color: !beforeDashes(args).includes('--no-color') };
  const givenUp = new Promise<number>((resolve) => {
    // Nothing of ours rejects unheard; what a configuration starts may. It ends the command, and says so in one line.
    const onStray = (error: unknown): void => resolve(reportError(error, shared));
    process.on('unhandledRejection', onStray).on('uncaughtException', onStray);
  });
  letPipesBreak();
  const done = program.parseAsync(args, { from: 'user' }).then(
    () => Number(process.exitCode ?? EXIT_CODES.ok),
    (error: unknown) => exitAfter(error, args, shared),
  );
  const code = await Promise.race([done, givenUp]);
  await Promise.all([flush(process.stdout), flush(process.stderr)]);
  return code;
}

function exitAfter(error: unknown, args: readonly string[], shared: { json: boolean; color: boolean }): number {
  if (!(error instanceof CommanderError)) {
    const code = reportError(error, shared);
    return Number(process.exitCode ?? code); // a signal that ended the work counts before what the work says of it
  }
  if (error.exitCode === 0) return EXIT_CODES.ok;
  if (error.code === 'commander.help') return EXIT_CODES.usage; // printed already: there was no command
  return reportError(usageError(error, args), shared);
}

function usageError({ message }: CommanderError, args: readonly string[]): TurnlockError {
  const name = allCommands()
    .map((command) => command.name())
    .find((command) => beforeDashes(args).includes(command));
  return new TurnlockError('OPTIONS_INVALID', {
    message: message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' '),
    hint: `Run \`turnlock ${name === undefined ? '' : `${name} `}--help\` to see what it takes.`,
  });
}

function beforeDashes(args: readonly string[]): readonly string[] {
  const place = args.indexOf('--');
  return place < 0 ? args : args.slice(0, place);
}

/** A reader that has seen enough (`| head`) is no error: what is under way goes on, unseen. */
function letPipesBreak(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') process.exit(EXIT_CODES.bug);
    });
  }
}

function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableEnded) resolve();
    else stream.write('', () => resolve());
  });
}
