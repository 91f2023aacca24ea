import type { Command } from 'commander';
import { migrateCommand } from './migrate-command.ts';

/** Every command, in the order in which help lists them. */
export function allCommands(): Command[] {
  return [migrateCommand()];
}
