import type { Command } from 'commander';

/** The options that every command takes. */
export interface SharedOptions {
  /** File with the options of `createRuntime`. */
  config?: string;
  /** URL of a server, or the folder of an embedded database. */
  database?: string;
  json?: boolean;
  /** `false` with `--no-color`. */
  color?: boolean;
}

/** Adds them to the program; they may stand before or after a command's name. */
export function addSharedOptions(program: Command): Command {
  return program
    .option(
      '--config <file>',
      'file that exports the options of createRuntime (default: turnlock.config.ts, .js or .mjs)',
    )
    .option(
      '--database <url|folder>',
      'postgres:// URL or PGlite folder (default: TURNLOCK_DATABASE_URL, then the config)',
    )
    .option('--json', 'print JSON: see docs/cli.md for the shapes')
    .option('--no-color', 'no colours, as with NO_COLOR');
}

/** The shared options as given to `command`, with its own ones. */
export function optionsOf<Own extends object = object>(command: Command): SharedOptions & Own {
  return command.optsWithGlobals<SharedOptions & Own>();
}
