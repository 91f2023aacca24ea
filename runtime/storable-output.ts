import { isTurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { OutcomeContent } from '../machines/event-content.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { placeholderFor } from '../persistence/values/placeholder.ts';

/** A tool that returned something that cannot be stored still ran: its output is a truthful placeholder, and it is not run again. */
export function storableOutput({ maxOutputBytes, maxDepth }: Limits, returned: unknown): OutcomeContent {
  try {
    const { value, notes } = normaliseJson(returned ?? null, { maxBytes: maxOutputBytes, maxDepth, name: 'output' });
    return { output: value, normalised: notes };
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { output: placeholderFor(returned, error) };
  }
}
