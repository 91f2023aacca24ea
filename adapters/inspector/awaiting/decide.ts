import { isTurnlockError, TurnlockError } from '../../../errors.ts';
import { type Awaiting, listAwaiting } from '../../../persistence/list-awaiting.ts';
import { checkDenial, checkPlainApproval, type Deciding } from '../../../runtime/check-decision.ts';
import type { Settlement } from '../../../runtime/check-settlement.ts';
import { decideWithoutAgent } from '../../cli/decide-without-agent.ts';
import { settleWithoutAgent } from '../../cli/settle-without-agent.ts';
import type { Visit } from '../visit.ts';
import type { SentDecision } from './read-decision.ts';

/** The open question of an approval id, if the viewer may see it; `null` where it is not open any more. */
export async function openQuestion(
  { store, viewer }: Visit,
  { tenantId, approvalId }: Pick<SentDecision, 'tenantId' | 'approvalId'>,
): Promise<Awaiting | null> {
  const userId = viewer.userId == null ? {} : { userId: viewer.userId };
  const [asked] = await listAwaiting(store, { tenantId, approvalIds: [approvalId], limit: 1, ...userId });
  return asked ?? null;
}

/**
 * Commits what a person decided, as the viewer. With the session's agent at hand it goes on from there, as the runtime does it; else whoever
 * has the agent goes on.
 *
 * @throws APPROVAL_STALE where the params are not those that were shown; else as `approve`, `deny` and `settle` of a session.
 */
export async function decide(visit: Visit, sent: SentDecision, asked: Awaiting): Promise<void> {
  if (asked.digest !== sent.digest) throw stale(sent);
  try {
    await (visit.runtime === null ? decideAlone(visit, sent) : decideInRuntime(visit, sent));
  } catch (error) {
    const isElsewhere = isTurnlockError(error, 'AGENT_UNKNOWN') || isTurnlockError(error, 'AGENT_VERSION_MISMATCH');
    if (!isElsewhere || hasParams(sent)) throw error;
    await decideAlone(visit, sent);
  }
}

async function decideInRuntime({ runtime, viewer }: Visit, sent: SentDecision): Promise<void> {
  const { tenantId, sessionId, executionId, decision } = sent;
  const session = await runtime?.session({ tenantId, sessionId });
  if (session === undefined) return;
  if (decision.way === 'approve') {
    const params = decision.params === undefined ? {} : { params: decision.params };
    await session.approve(executionId, { ...who(viewer, sent), ...params });
  } else if (decision.way === 'deny') {
    await session.deny(executionId, { ...who(viewer, sent), reason: decision.reason });
  } else {
    await session.settle(executionId, settlementOf(viewer, sent));
  }
}

async function decideAlone({ store, viewer }: Visit, sent: SentDecision): Promise<void> {
  const { tenantId, sessionId, executionId, decision } = sent;
  const key = { tenantId, sessionId };
  if (decision.way === 'approve') {
    if (hasParams(sent)) throw needsAgent();
    await decideWithoutAgent(store, key, checkPlainApproval(executionId, who(viewer, sent)));
  } else if (decision.way === 'deny') {
    const { reason } = decision;
    await decideWithoutAgent(store, key, checkDenial(store.limits, executionId, { ...who(viewer, sent), reason }));
  } else {
    await settleWithoutAgent(store, key, executionId, settlementOf(viewer, sent));
  }
}

function who({ by, roles = [] }: Visit['viewer'], { digest, approvalId }: SentDecision): Deciding {
  return { by, roles, digest, approvalId };
}

function settlementOf({ by, roles = [] }: Visit['viewer'], { decision, approvalId }: SentDecision): Settlement {
  const who = { by, roles, approvalId };
  switch (decision.way) {
    case 'succeeded':
      return { outcome: 'succeeded', output: decision.output ?? null, ...who };
    case 'answer':
      return { outcome: 'succeeded', output: decision.answer, ...who };
    case 'failed':
      return { outcome: 'failed', reason: decision.reason, ...who };
    default:
      return { outcome: 'runAgain', ...who };
  }
}

function hasParams({ decision }: SentDecision): boolean {
  return decision.way === 'approve' && decision.params !== undefined;
}

function stale({ executionId }: SentDecision): TurnlockError {
  return new TurnlockError('APPROVAL_STALE', {
    message: `params have changed: execution ${executionId} (wanted those that were shown)`,
    details: { executionId },
  });
}

function needsAgent(): TurnlockError {
  return new TurnlockError('CONFIG_INVALID', {
    message: 'no agents are known here (found none, wanted that of the session: its tool accepts the params)',
    hint: 'Approve the params as they are, or decide where the agents are.',
  });
}
