import { isTurnlockError, TurnlockError } from '../../errors.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../runtime/create-runtime.ts';
import { escapeText } from './escape-text.ts';
import type { Settings } from './read-settings.ts';
import type { Terminal } from './terminal.ts';

/**
 * Opens a runtime, runs `work`, and closes it. The first SIGINT or SIGTERM aborts `stopping`, lets what is under way come to its end and
 * closes; whoever comes next goes on from there. A second one ends the process at once.
 *
 * @throws CONFIG_INVALID when the configuration has no agents.
 */
export async function withRuntime<Result>(
  settings: Settings,
  terminal: Terminal,
  work: (runtime: Runtime, stopping: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { place: _, ...options } = settings;
  const runtime = await createRuntime({ onWarning: warnOn(terminal), ...options, agents: agentsOf(settings) });
  const stopping = new AbortController();
  let stoppedBy: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    stoppedBy = signal;
    process.exitCode = signal === 'SIGINT' ? 130 : 143;
    terminal.note('Stopping: what is under way comes to its end first. Once more to stop at once.');
    stopping.abort();
    void runtime.close();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work(runtime, stopping.signal);
  } catch (error) {
    throw stoppedBy !== undefined && isTurnlockError(error, 'RUNTIME_CLOSED') ? stopped(stoppedBy) : error;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await runtime.close();
  }
}

function stopped(signal: NodeJS.Signals): TurnlockError {
  return new TurnlockError('RUNTIME_CLOSED', {
    message: `stopped by ${signal} before everything was at rest`,
    hint: 'Nothing is lost: what is owed is continued by `turnlock recover` or by any worker.',
  });
}

function agentsOf({ agents }: Settings): RuntimeOptions['agents'] {
  if (agents !== undefined && agents.length > 0) return agents;
  throw new TurnlockError('CONFIG_INVALID', {
    message: 'no agents are known (found none, wanted those of the sessions)',
    hint: 'Export `agents` from turnlock.config.ts: this command continues sessions, and only their agents can.',
  });
}

/** Prints what weakens a guarantee. */
export function warnOn(terminal: Terminal): (warning: { code: string; message: string }) => void {
  return ({ code, message }) => terminal.note(`${terminal.colours.yellow(`warning ${code}`)}: ${escapeText(message)}`);
}
