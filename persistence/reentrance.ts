import { AsyncLocalStorage } from 'node:async_hooks';
import { TurnlockError } from '../errors.ts';

const insideTool = new AsyncLocalStorage<string>();

/** Runs `work`, the act of a transactional tool, so that calls into a runtime from within are known as such. */
export function asTool<Result>(toolName: string, work: () => Result): Result {
  return insideTool.run(toolName, work);
}

/**
 * Refuses a call from within a transactional tool: it would wait for the lock, or for the connection, that the tool's own commit holds.
 *
 * @throws TRANSACTION_REENTRANT.
 */
export function refuseReentrance(): void {
  const tool = insideTool.getStore();
  if (tool === undefined) return;
  throw new TurnlockError('TRANSACTION_REENTRANT', {
    message: `runtime was called from within a transactional tool: ${tool} (wanted its own transaction only)`,
    details: { tool },
  });
}
