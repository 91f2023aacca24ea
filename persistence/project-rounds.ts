import type { AskedContent } from '../machines/event-content.ts';
import { isSettled } from '../machines/execution-status.ts';
import { callsAfter, type OpenCall, waitsForPerson } from '../machines/open-calls.ts';
import type { EventOf, SessionEvent } from '../machines/session-event.ts';
import type { DECISIONS, ROUND_KINDS } from './entities/agent-approval.entity.ts';
import { unknownContent } from './failed-attempts.ts';

/** How a round of asking ended. */
export type RoundDecision = (typeof DECISIONS)[number];

/** What people are asked about an execution. */
export type RoundKind = (typeof ROUND_KINDS)[number];

/** A round that a commit opens. */
export interface OpenedRound {
  executionId: string;
  kind: RoundKind;
  asked: AskedContent;
  /** Whether the execution is new, so that this is its first round. */
  isFirst: boolean;
  /** Whether no policy was asked who may decide: those of the round before it, if there was one. */
  keepsApprovers: boolean;
}

/** How a round ends, and by whom. */
export interface RoundEnd {
  decision: RoundDecision;
  by: string | null;
  /** Roles of that person; `null` where none were said. */
  roles: string[] | null;
  reason: string | null;
}

/** What one commit does with the rounds of asking. */
export interface RoundChanges {
  opened: OpenedRound[];
  /** The open round of each of these executions ends. */
  closed: ({ executionId: string } & RoundEnd)[];
  /** Executions that may have a grant that nobody used: it is withdrawn. */
  withdrawn: string[];
  /** Executions that start for the first time: their grant, if they needed one, is used up. */
  started: string[];
}

/** What is asked where no policy says more. */
export const PLAIN_QUESTION: AskedContent = {
  question: null,
  expiresInMs: null,
  approvers: null,
  onExpiry: 'failCall',
};

/** What `event` does with the rounds of the calls of a session: it follows from who waited before and who waits after. */
export function projectRounds(calls: readonly OpenCall[], event: SessionEvent): RoundChanges {
  const after = callsAfter(calls, event) ?? calls;
  const isPlan = event.type === 'model.calledTools';
  const before = new Map((isPlan ? [] : calls).map((call) => [call.executionId, call]));
  const changes: RoundChanges = { opened: [], closed: [], withdrawn: [], started: [] };
  for (const call of after) {
    const { executionId } = call;
    const earlier = before.get(executionId);
    const waited = earlier !== undefined && waitsForPerson(earlier);
    const waits = waitsForPerson(call);
    if (waited && !waits) changes.closed.push({ executionId, ...endOf(event, executionId) });
    if (waits && !waited) {
      const kind = call.waitsFor ?? 'unknown';
      const asked = askedOf(event, executionId);
      const keepsApprovers = kind === 'unknown' || (event.type === 'execution.held' && isUnjudged(event, executionId));
      changes.opened.push({ executionId, kind, asked, isFirst: isPlan, keepsApprovers });
    }
    if (earlier === undefined || earlier.attempt > 0 || waited) continue;
    if (call.attempt === 1) changes.started.push(executionId);
    else if (isSettled(call.status) || waits) changes.withdrawn.push(executionId);
  }
  return changes;
}

/** What cannot run in a build is held before its policy is asked. */
function isUnjudged({ content }: EventOf<'execution.held'>, executionId: string): boolean {
  return content?.[executionId]?.error !== undefined;
}

function askedOf(event: SessionEvent, executionId: string): AskedContent {
  const unknown = unknownContent(event, executionId);
  if (unknown !== undefined) return { ...PLAIN_QUESTION, question: unknown.error?.message ?? null };
  if (event.type === 'execution.held') return event.content?.[executionId] ?? PLAIN_QUESTION;
  if (event.type !== 'model.calledTools') return PLAIN_QUESTION;
  return event.calls.find((call) => call.executionId === executionId)?.content.asked ?? PLAIN_QUESTION;
}

function endOf(event: SessionEvent, executionId: string): RoundEnd {
  const by = 'by' in event ? event.by : null;
  const roles = 'roles' in event ? (event.roles ?? null) : null;
  const ended = (decision: RoundDecision, reason: string | null = null) => ({ decision, by, roles, reason });
  switch (event.type) {
    case 'approval.granted':
    case 'approval.amended':
      return ended('granted');
    case 'approval.denied':
      return ended('denied', event.content.error?.message ?? null);
    case 'approval.superseded':
      return ended('superseded', event.content.error?.message ?? null);
    case 'execution.settledByPerson':
      return ended('settled', event.content.error?.message ?? null);
    case 'user.messaged':
      return { decision: 'answered', by: 'message', roles: null, reason: null };
    case 'tool.evidenced':
      return { decision: 'superseded', by: 'evidence', roles: null, reason: null };
    case 'input.expired':
      return ended(event.executionIds.includes(executionId) ? 'expired' : 'cancelled');
    default:
      return ended('cancelled');
  }
}
