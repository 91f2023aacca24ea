import { type AskedCall, recoverWords, settleWords } from '../../runtime/explain/command-words.ts';
import type { CommandWords } from '../../runtime/explain/explanation.ts';
import type { SharedOptions } from './shared-options.ts';
import { shellQuote } from './shell-quote.ts';

/** How the database is found. */
export type Place = Pick<SharedOptions, 'config' | 'database'>;

/** What stands for a text of a person's: in quotes, since what takes its place may be of several words. */
const TEXTS: readonly string[] = ['OUTPUT_AS_JSON', 'REASON'];

/** What ends a command: who says it. */
const WHO = '--by';

/**
 * A command as one line for a shell, ready to be pasted but for what only a person knows, which stands in capitals. How the database is found
 * is repeated as it was given; a password is not.
 */
export function commandText(words: CommandWords, given: Place): string {
  const place = placeOf(words.includes('--config') ? { ...given, config: undefined } : given);
  const end = words.lastIndexOf(WHO) < 0 ? words.length : words.lastIndexOf(WHO);
  return [...words.slice(0, end).map(quote), ...place, ...words.slice(end).map(quote)].join(' ');
}

/** The commands that decide about a call or settle it, one for each way. */
export function settleCommands(call: AskedCall, given: Place): string[] {
  return settleWords(call).map((words) => commandText(words, given));
}

/** The command that continues sessions that nobody holds. */
export function recoverCommandText(given: Place): string {
  return commandText(recoverWords(), given);
}

function quote(word: string): string {
  return TEXTS.includes(word) ? `'${word}'` : shellQuote(word);
}

function placeOf({ config, database }: { config?: string | undefined; database?: string | undefined }): string[] {
  const parts = config === undefined ? [] : ['--config', shellQuote(config)];
  if (database === undefined) return parts;
  const isSecret = /^\w+:\/\/[^/@]*:[^/@]*@|[?&]password=/.test(database);
  return [...parts, '--database', isSecret ? '"$TURNLOCK_DATABASE_URL"' : shellQuote(database)];
}
