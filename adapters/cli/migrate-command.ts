import { Command } from 'commander';
import type { MigrateOptions } from './run-migrate.ts';
import { optionsOf } from './shared-options.ts';

const EXAMPLES = `
Examples:
  $ turnlock migrate                               bring the database of turnlock.config.ts up to date
  $ turnlock migrate --check                       exit with 3 unless it is
  $ turnlock migrate --grant-to app_user           and give an existing role the rights of a runtime
  $ turnlock migrate --grant-reader-to oncall      and let an existing role look, and nothing else
  $ turnlock migrate --embedding-dimensions        and make the table for vectors, for the embedder of the configuration
  $ turnlock migrate --sql | psql -d app           print the statements for somebody else to run
`;

/** `turnlock migrate`. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the schema up to date')
    .option('--check', 'change nothing; fail unless the schema is what this build needs')
    .option('--sql', 'print the whole schema as a script for psql; no database is opened')
    .option('--grant-to <role>', 'give an existing role the rights of a runtime')
    .option('--grant-reader-to <role>', 'let an existing role read what a runtime reads, and write nothing')
    .option('--embedding-dimensions [number]', 'make the table for vectors of memories (default: of memory.embedder)')
    .option('--embedding-model <name>', 'the model whose vectors they are (default: that of memory.embedder)')
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runMigrate } = await import('./run-migrate.ts');
      await runMigrate(optionsOf<MigrateOptions>(command));
    });
}
