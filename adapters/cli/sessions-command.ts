import { Command, InvalidArgumentError, Option } from 'commander';
import { SESSION_STATES, type SessionState } from '../../machines/session-state.ts';
import type { SessionsOptions } from './run-sessions.ts';
import { optionsOf } from './shared-options.ts';
import { whole } from './whole.ts';

const MAX_LIMIT = 10_000;

const EXAMPLES = `
Examples:
  $ turnlock sessions --tenant acme
  $ turnlock sessions --tenant acme --state AWAITING_INPUT --limit 10
  $ turnlock sessions --tenant acme --stranded --config turnlock.config.ts
  $ turnlock sessions --database .turnlock --json | jq -r .sessionId
`;

/** `turnlock sessions`. */
export function sessionsCommand(): Command {
  return new Command('sessions')
    .description('list sessions, last changed first')
    .option('--tenant <tenant>', 'whose; may be left out on an embedded database, for all')
    .addOption(new Option('--state <state>', 'only those in this state').choices(SESSION_STATES).argParser(parseState))
    .option('--fork-of <session>', 'only forks of this session')
    .option('--stranded', 'only those that are newer than the agents of the configuration, which leave them alone')
    .option('--limit <number>', `how many at the most, up to ${MAX_LIMIT}`, whole(1, MAX_LIMIT), 50)
    .addHelpText('after', EXAMPLES)
    .action(async (_options, command: Command) => {
      const { runSessions } = await import('./run-sessions.ts');
      await runSessions(optionsOf<SessionsOptions>(command));
    });
}

function parseState(text: string): SessionState {
  const state = text.toUpperCase() as SessionState;
  if (SESSION_STATES.includes(state)) return state;
  throw new InvalidArgumentError(`Allowed choices are ${SESSION_STATES.join(', ')}.`);
}
