import { isTurnlockError, TurnlockError } from '../errors.ts';
import type { SessionState } from '../machines/session-state.ts';
import { findSessionOfExecution } from '../persistence/list-awaiting.ts';
import { checkUuid } from '../persistence/values/check-uuid.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import type { ApproveOptions, DenyOptions } from './check-decision.ts';
import { checkOptions } from './check-options.ts';
import type { Settlement } from './check-settlement.ts';
import type { Services } from './services.ts';
import type { Session } from './session-handle.ts';

/** One decision of a batch: as `approve`, `deny` and `settle` of a session take it, by the execution's id. */
export type BatchDecision = { executionId: string } & (
  | ({ decision: 'approve' } & ApproveOptions)
  | ({ decision: 'deny' } & DenyOptions)
  | ({ decision: 'settle' } & Settlement)
);

/** What became of one decision of a batch. */
export type BatchAnswer =
  | { executionId: string; ok: true; sessionId: string; state: SessionState }
  | { executionId: string; ok: false; error: { code: string; message: string } };

/** The longest batch. */
const MAX_DECISIONS = 1_000;

/** Takes each decision for itself, in order: one that is refused harms no other. */
export async function decideBatch(
  services: Services,
  tenantId: string,
  decisions: readonly BatchDecision[],
  open: (sessionId: string) => Promise<Session>,
): Promise<BatchAnswer[]> {
  if (!Array.isArray(decisions) || decisions.length > MAX_DECISIONS) {
    const found = Array.isArray(decisions) ? `${decisions.length}` : kindOf(decisions);
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `option not accepted: decisions (found ${found}, wanted an array of at most ${MAX_DECISIONS})`,
    });
  }
  const answers: BatchAnswer[] = [];
  for (const decision of decisions) answers.push(await decideOne(services, tenantId, decision, open));
  return answers;
}

async function decideOne(
  services: Services,
  tenantId: string,
  decision: BatchDecision,
  open: (sessionId: string) => Promise<Session>,
): Promise<BatchAnswer> {
  const { executionId } = (decision ?? {}) as BatchDecision;
  try {
    const id = checkUuid(checkOptions(decision, 'decide').executionId, 'executionId');
    const sessionId = await findSessionOfExecution(services.store, tenantId, id);
    if (sessionId === null) throw notFound(id, tenantId);
    const session = await open(sessionId);
    await decideIn(session, decision);
    return { executionId: id, ok: true, sessionId, state: (await session.status()).state };
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { executionId, ok: false, error: { code: error.code, message: error.message } };
  }
}

async function decideIn(session: Session, { executionId, ...decision }: BatchDecision): Promise<void> {
  const kind: unknown = decision.decision;
  switch (decision.decision) {
    case 'approve': {
      const { decision: _, ...options } = decision;
      await session.approve(executionId, options);
      return;
    }
    case 'deny': {
      const { decision: _, ...options } = decision;
      await session.deny(executionId, options);
      return;
    }
    case 'settle': {
      const { decision: _, ...settlement } = decision;
      await session.settle(executionId, settlement as Settlement);
      return;
    }
    default:
      throw new TurnlockError('OPTIONS_INVALID', {
        message: `option not accepted: decision (found ${kindOf(kind)}, wanted approve, deny or settle)`,
      });
  }
}

function notFound(executionId: string, tenantId: string): TurnlockError {
  return new TurnlockError('EXECUTION_NOT_FOUND', {
    message: `execution not found: ${executionId} (wanted one of tenant ${JSON.stringify(tenantId)})`,
    details: { executionId, tenantId },
  });
}
