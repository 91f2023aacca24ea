import type { HeldContent, OutcomeContent } from '../machines/event-content.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import { presentParams } from '../persistence/present-params.ts';
import { hasGrant } from '../persistence/read-grant.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { askPolicy } from './ask-policy.ts';
import type { DriveContext } from './drive-context.ts';
import { approvalHolds, type ReadyParams } from './upgrade-params.ts';

/**
 * Judges calls again that had to wait, in the moment before they start: the policy of today decides, on the params as today's tool takes
 * them. What it denies is refused, what it wants approved and nobody granted is held; `null` when all of them may start. A grant is for the
 * params that were seen: where an upgrade changed them since, a person is asked about the new ones, unless the tool says otherwise.
 */
export async function checkStarts(
  drive: DriveContext,
  rows: readonly ExecutionRow[],
  ready: ReadonlyMap<string, ReadyParams>,
): Promise<SessionEvent | null> {
  const refused: { executionId: string; content: OutcomeContent }[] = [];
  const held: { [executionId: string]: HeldContent } = {};
  for (const row of rows) {
    const { executionId } = row;
    const tool = drive.agent.tools.get(row.toolName);
    const params = ready.get(executionId);
    if (tool === undefined || params === undefined) continue;
    const judgement = await askPolicy(drive, tool, { executionId, params: params.params, isStart: true });
    if (judgement.may === 'not') refused.push({ executionId, content: judgement.refusal });
    if (judgement.may !== 'ask') continue;
    const { digest } = presentParams(row);
    const holds = approvalHolds(tool, params, digest);
    if (holds && (await hasGrant(drive.store, drive.session, { executionId, digest }))) continue;
    held[executionId] = params.upgrade === null ? judgement.asked : { ...judgement.asked, upgrade: params.upgrade };
  }
  if (refused.length > 0) return { type: 'execution.refused', executions: refused };
  const executionIds = Object.keys(held);
  return executionIds.length > 0 ? { type: 'execution.held', executionIds, content: held } : null;
}
