import type { ToolContext } from '../adapters/tools/tool.contract.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import type { DriveContext } from './drive-context.ts';

/** What a tool is handed beside the params of `execution`. */
export function toolContext(
  { session, token, scratchpad, memory }: DriveContext,
  execution: ExecutionRow,
  signal: AbortSignal,
): ToolContext {
  const { tenantId, userId, sessionId } = session;
  const { idempotencyKey, runId, executionId, attempt } = execution;
  const { claimDigest: digest, claimGeneration: generation } = execution;
  const claim = digest === null || generation === null ? null : { digest, generation };
  return {
    idempotencyKey,
    fencingToken: token,
    signal,
    tenantId,
    userId,
    sessionId,
    runId,
    executionId,
    attempt,
    claim,
    scratchpad,
    memory: { recall: (query) => memory.recall(query) },
  };
}
