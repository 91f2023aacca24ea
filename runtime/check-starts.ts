import type { Tool } from '../adapters/tools/tool.contract.ts';
import type { AskedContent, HeldContent, OutcomeContent } from '../machines/event-content.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import { mayDecide } from '../persistence/approver-rule.ts';
import { readGrant } from '../persistence/read-grant.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { askPolicy } from './ask-policy.ts';
import type { DriveContext } from './drive-context.ts';
import { approvalHolds, type ReadyParams } from './upgrade-params.ts';

/**
 * Judges calls again that had to wait, in the moment before they start: the policy of today decides, on the params as today's tool takes
 * them. What it denies is refused, what it wants approved and nobody granted is held; `null` when all of them may start.
 *
 * A grant is for the params that were seen: where an upgrade changed them since, a person is asked about the new ones, unless the tool says
 * otherwise; also where the policy asks nobody, and it was a freeze, a budget or a repeat that made somebody be asked. And it counts where
 * whoever gave it may approve what is to start: by today's policy, with the roles of then.
 */
export async function checkStarts(
  drive: DriveContext,
  rows: readonly ExecutionRow[],
  ready: ReadonlyMap<string, ReadyParams>,
): Promise<SessionEvent | null> {
  const refused: { executionId: string; content: OutcomeContent }[] = [];
  const held: { [executionId: string]: HeldContent } = {};
  for (const { executionId, toolName } of rows) {
    const tool = drive.agent.tools.get(toolName);
    const params = ready.get(executionId);
    if (tool === undefined || params === undefined) continue;
    const judgement = await askPolicy(drive, tool, { executionId, params: params.params, isStart: true });
    if (judgement.may === 'not') {
      refused.push({ executionId, content: judgement.refusal });
      continue;
    }
    const asked = judgement.may === 'ask' ? judgement.asked : null;
    const question = await whatToAsk(drive, { executionId, tool, params, asked });
    if (question !== null)
      held[executionId] = params.upgrade === null ? question : { ...question, upgrade: params.upgrade };
  }
  if (refused.length > 0) return { type: 'execution.refused', executions: refused };
  const executionIds = Object.keys(held);
  return executionIds.length > 0 ? { type: 'execution.held', executionIds, content: held } : null;
}

/** A call that may start if there is leave for it; `asked` is what today's policy wants to know, if anything. */
interface Starting {
  executionId: string;
  tool: Tool;
  params: ReadyParams;
  asked: AskedContent | null;
}

/** What a person is to be asked before the call starts; `null` where nothing is. */
async function whatToAsk(drive: DriveContext, { executionId, tool, params, asked }: Starting) {
  // Params as they were written are those that anybody saw.
  if (asked === null && (params.upgrade === null || tool.keepsApproval)) return null;
  const { session } = drive;
  const grant = await readGrant(drive.store, session, executionId);
  if (grant === null) return asked;
  const isForThese = approvalHolds(tool, params, grant.digest);
  if (asked === null) return isForThese ? null : grant.asked;
  return isForThese && mayDecide(asked.approvers, grant, session.userId) ? null : asked;
}
