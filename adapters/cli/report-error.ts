import { isTurnlockError, TurnlockError } from '../../errors.ts';
import { escapeJson, escapeText } from './escape-text.ts';
import { type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { SharedOptions } from './shared-options.ts';
import { coloursFor, hasColours } from './terminal.ts';

/**
 * Says on standard error what went wrong: `CODE: message` and what to do, or `{"error":{…}}` with `--json`. A stack only where
 * TURNLOCK_DEBUG is set.
 *
 * @returns the exit code that the error stands for.
 */
export function reportError(given: unknown, { json = false, color }: SharedOptions): ExitCode {
  const error = isTurnlockError(given) ? given : unexpected(given);
  const { red, dim } = coloursFor(!json && hasColours(process.stderr, color));
  if (json) process.stderr.write(`${escapeJson({ error: error.toJSON() })}\n`);
  else
    process.stderr.write(
      `${red(error.code)}: ${escapeText(error.message)}\n${dim('hint:')} ${escapeText(error.hint)}\n`,
    );
  if (process.env.TURNLOCK_DEBUG) process.stderr.write(`${stackOf(given)}\n`);
  return exitCodeOf(error);
}

/** An error that nobody foresaw, as one of ours. */
function unexpected(error: unknown): TurnlockError {
  const { name = 'Error', message = String(error) } = error instanceof Error ? error : {};
  return new TurnlockError('INVARIANT_BROKEN', {
    message: `unexpected error: ${name}: ${message}`,
    hint: 'Run it again with TURNLOCK_DEBUG=1 to see the stack, and report it.',
    cause: error,
  });
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by: ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
