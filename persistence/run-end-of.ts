import type { CommitResult } from './commit-request.ts';
import type { StoredRunEnd } from './read-run.ts';

/**
 * How a run ended, from the commit that brought it to rest: what `readRun` would read, without asking the database.
 *
 * `null` where the rows say more than the commit: the words of a model that failed stand with its call, and a repeat carries no turns.
 */
export function runEndOf({ repeated, transition, turns }: CommitResult): StoredRunEnd | null {
  const { event, to: state } = transition;
  if (repeated || event.type === 'model.failed') return null;
  const reply = event.type === 'model.replied' ? turns.find(({ role }) => role === 'assistant') : undefined;
  const code = typeof event.code === 'string' ? event.code : null;
  const output = reply?.metadata.output ?? null;
  return { state, event: event.type, code, reply: reply?.content ?? null, output, modelError: null };
}
