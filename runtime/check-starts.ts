import type { AskedContent, OutcomeContent } from '../machines/event-content.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import { hasGrant } from '../persistence/read-grant.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { askPolicy } from './ask-policy.ts';
import type { DriveContext } from './drive-context.ts';

/**
 * Judges calls again that had to wait, in the moment before they start: the policy of today decides. What it denies is refused, what it
 * wants approved and nobody granted is held; `null` when all of them may start.
 */
export async function checkStarts(drive: DriveContext, rows: readonly ExecutionRow[]): Promise<SessionEvent | null> {
  const refused: { executionId: string; content: OutcomeContent }[] = [];
  const held: { [executionId: string]: AskedContent } = {};
  for (const { executionId, toolName, inputParameters: params, paramsDigest: digest } of rows) {
    const tool = drive.agent.tools.get(toolName);
    if (tool === undefined) continue;
    const judgement = await askPolicy(drive, tool, { executionId, params, isStart: true });
    if (judgement.may === 'not') refused.push({ executionId, content: judgement.refusal });
    if (judgement.may !== 'ask' || (await hasGrant(drive.store, drive.session, { executionId, digest }))) continue;
    held[executionId] = judgement.asked;
  }
  if (refused.length > 0) return { type: 'execution.refused', executions: refused };
  const executionIds = Object.keys(held);
  return executionIds.length > 0 ? { type: 'execution.held', executionIds, content: held } : null;
}
