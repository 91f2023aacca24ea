import { TurnlockError } from '../../errors.ts';
import type { Terminal } from './terminal.ts';

/**
 * Runs `work` with a check that throws once SIGINT or SIGTERM came: what is done stays done, the transaction that is under way comes to its
 * end, and no other one begins. A second signal ends the process at once.
 *
 * @throws RUNTIME_CLOSED after a signal.
 */
export async function stopBetween<Result>(
  terminal: Terminal,
  work: (check: () => void) => Promise<Result>,
): Promise<Result> {
  let stoppedBy: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    stoppedBy = signal;
    process.exitCode = signal === 'SIGINT' ? 130 : 143;
    terminal.note('Stopping after this step. Once more to stop at once.');
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work(() => {
      if (stoppedBy !== undefined) throw stopped(stoppedBy);
    });
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

function stopped(signal: NodeJS.Signals): TurnlockError {
  return new TurnlockError('RUNTIME_CLOSED', {
    message: `stopped by ${signal} before everything was done`,
    hint: 'What is done stays done. Run the same command again: it goes on with what is left.',
  });
}
