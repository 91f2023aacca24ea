import type { EntityManager } from '@mikro-orm/postgresql';
import { TurnlockError } from '../errors.ts';
import type { AmendedContent, Approvers, OutcomeContent } from '../machines/event-content.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import { amendClaim } from './amend-claim.ts';
import { checkApprover } from './approver-rule.ts';
import type { Claiming } from './claims.ts';
import type { AgentApprovalRow } from './entities/agent-approval.entity.ts';
import { AgentToolExecution, type AgentToolExecutionRow } from './entities/agent-tool-execution.entity.ts';
import { executionOf } from './execution-of.ts';
import type { RoundDecision } from './project-rounds.ts';
import type { SessionKey } from './read-session.ts';
import { findRounds } from './write-rounds.ts';

/** What a person decides about a call that waits for approval. */
export interface Decided {
  executionId: string;
  by: string;
  /** Roles of that person, as the host knows them. */
  roles: readonly string[];
  /** Digest of the params that the person saw; `null` where the host does not say. */
  digest: string | null;
  /** The question that the person answers; `null` where the host does not say. */
  approvalId: string | null;
  decision: { type: 'grant'; amended: Amendment | null } | { type: 'deny'; content: OutcomeContent };
}

/** Params of a person's, and what the policy of this moment says of them. */
export interface Amendment {
  content: AmendedContent;
  /** Who may approve these params; `null`: whoever may decide about the call. */
  approvers: Approvers | null;
  /** Why these params must not run, whoever approves them; `null` where they may. */
  refusal: TurnlockError | null;
}

/** The event of a decision, or that it was made before by the same person. */
export type ApprovalOutcome = { event: SessionEvent } | { repeated: true };

/**
 * The event of `decided`, from the rows under the session's lock.
 *
 * @throws EXECUTION_NOT_FOUND, APPROVAL_NOT_ASKED when nobody is asked about that call. APPROVAL_DECIDED when somebody was first.
 * @throws APPROVAL_EXPIRED, APPROVAL_STALE, APPROVER_NOT_ALLOWED. KEY_CONFLICT when another call has the key of the amended params.
 */
export async function decideApproval(em: EntityManager, key: Claiming, decided: Decided): Promise<ApprovalOutcome> {
  const { executionId, by, decision } = decided;
  const { now } = key;
  const rounds = await findRounds(em, key, executionId);
  const round = rounds.at(-1) ?? null;
  const named =
    decided.approvalId === null ? round : rounds.find(({ approvalId }) => approvalId === decided.approvalId);
  // What was said to an earlier question says nothing about the present one, however often it is delivered.
  if (named != null && named !== round) {
    if (isRepeat(named, decided)) return { repeated: true };
    throw alreadyDecided(named);
  }
  if (round === null || round.kind !== 'approval') throw await notAsked(em, key, executionId, round);
  if (named === undefined)
    throw anotherQuestion({ executionId, approvalId: decided.approvalId ?? '' }, round.approvalId);
  if (round.decision != null) {
    if (isRepeat(round, decided)) return { repeated: true };
    throw alreadyDecided(round);
  }
  if (round.expiresAt != null && round.expiresAt <= now) throw expired(round);
  const { userId } = key;
  checkApprover((round.approvers ?? null) as Approvers | null, decided, { executionId, userId });
  const { digest } = decided;
  if (digest !== null && digest !== round.argsDigest) throw stale(round, digest);
  if (decision.type === 'deny') {
    return { event: { type: 'approval.denied', executionId, by, ...rolesOf(decided), content: decision.content } };
  }
  if (decision.amended === null || decision.amended.content.paramsDigest === round.argsDigest) {
    return { event: { type: 'approval.granted', executionId, by, ...rolesOf(decided) } };
  }
  const { content: amended, approvers, refusal } = decision.amended;
  // Leave for what was asked is no leave for what is put in its place: shown by “an approver amends within what they may approve”.
  checkApprover(approvers, decided, { executionId, userId, what: 'with these params' });
  if (refusal !== null) throw refusal;
  const call = await em.findOneOrFail(AgentToolExecution, { executionId, ...ownerOf(key) });
  await checkNoTwin(em, key, call, amended);
  const claim = await amendClaim(em, key, call, amended);
  const content = claim === null ? amended : { ...amended, claim };
  return { event: { type: 'approval.amended', executionId, by, ...rolesOf(decided), content } };
}

function rolesOf({ roles }: Decided): { roles?: string[] } {
  return roles.length === 0 ? {} : { roles: [...roles] };
}

function isRepeat(round: AgentApprovalRow, { by, decision }: Decided): boolean {
  const same: RoundDecision = decision.type === 'grant' ? 'granted' : 'denied';
  if (round.decision !== same || round.decidedBy !== by) return false;
  return (
    decision.type === 'deny' || decision.amended === null || decision.amended.content.paramsDigest === round.argsDigest
  );
}

/** Two calls of one turn with equal params are one: a person must not make a second one out of the first. */
async function checkNoTwin(
  em: EntityManager,
  key: SessionKey,
  { executionId, turnId, toolName }: AgentToolExecutionRow,
  { paramsDigest, repeatable }: AmendedContent,
): Promise<void> {
  if (repeatable) return;
  const twin = await em.findOne(AgentToolExecution, { ...ownerOf(key), turnId, toolName, paramsDigest });
  if (twin === null) return;
  throw new TurnlockError('KEY_CONFLICT', {
    message: `amended params are those of another call of the turn: execution ${executionId} (found ${twin.executionId}, wanted params of its own)`,
    details: { executionId, other: twin.executionId },
  });
}

function ownerOf({ sessionId, tenantId }: SessionKey) {
  return { sessionId, tenantId };
}

async function notAsked(
  em: EntityManager,
  key: SessionKey,
  executionId: string,
  round: AgentApprovalRow | null,
): Promise<TurnlockError> {
  const { status } = await executionOf(em, key, executionId);
  const found = round === null ? status : `a question of kind ${round.kind}`;
  return new TurnlockError('APPROVAL_NOT_ASKED', {
    message: `nobody is asked to approve: execution ${executionId} (found ${found}, wanted one that waits for approval)`,
    details: { executionId, sessionId: key.sessionId, status, kind: round?.kind ?? null },
  });
}

/** Somebody has answered the question. */
export function alreadyDecided({
  executionId,
  decision,
  decidedBy,
  decidedAt,
  round,
}: AgentApprovalRow): TurnlockError {
  const at = decidedAt?.toISOString() ?? null;
  return new TurnlockError('APPROVAL_DECIDED', {
    message: `approval is decided already: execution ${executionId} (found ${decision} by ${decidedBy} at ${at})`,
    details: { executionId, decision, decidedBy, decidedAt: at, round },
  });
}

function expired({ executionId, expiresAt, round }: AgentApprovalRow): TurnlockError {
  const at = expiresAt?.toISOString() ?? null;
  return new TurnlockError('APPROVAL_EXPIRED', {
    message: `approval has expired: execution ${executionId} (found ${at}, wanted a decision before)`,
    details: { executionId, expiresAt: at, round },
  });
}

/** The question that was named was never asked about the call: `asked` is the last that was. */
export function anotherQuestion(
  { executionId, approvalId }: { executionId: string; approvalId: string },
  asked: string | null,
): TurnlockError {
  return new TurnlockError('APPROVAL_STALE', {
    message: `question is another one than that which was answered: execution ${executionId} (found ${asked}, wanted ${approvalId})`,
    details: { executionId, approvalId: asked },
  });
}

function stale({ executionId, argsDigest }: AgentApprovalRow, digest: string): TurnlockError {
  return new TurnlockError('APPROVAL_STALE', {
    message: `params are others than those that were seen: execution ${executionId} (found digest ${argsDigest}, wanted ${digest})`,
    details: { executionId, digest: argsDigest },
  });
}
