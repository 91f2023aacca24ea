import type { EntityManager } from '@mikro-orm/postgresql';
import { type ErrorCode, TurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { UserTurnContent } from '../machines/event-content.ts';
import { isInFlight, type OpenCall } from '../machines/open-calls.ts';
import type { EventOf, SessionEvent } from '../machines/session-event.ts';
import type { SessionState } from '../machines/session-state.ts';
import { actInSavepoint } from './act-in-savepoint.ts';
import { checkSettler } from './check-settler.ts';
import type { CommitRequest, Intent, SettledAs } from './commit-request.ts';
import { type Decided, decideApproval } from './decide-approval.ts';
import { decidePlan, type Starting } from './decide-plan.ts';
import type { AgentInboxRow } from './entities/agent-inbox.entity.ts';
import type { AgentToolExecutionRow } from './entities/agent-tool-execution.entity.ts';
import { eventIdOfEvidence, findEvidence } from './evidence.ts';
import { holdStarts } from './hold-starts.ts';
import {
  contentOf,
  findCancel,
  findMessage,
  findMessageOfRun,
  findNews,
  findNextMessage,
  type InboxChange,
  rowDigest,
  whyNotStorable,
} from './inbox.ts';
import { eventIdFromMessageId } from './keys/event-id-from-message-id.ts';
import { lateSettlement } from './late-settlement.ts';
import type { LeaseClaim } from './lease.ts';
import type { NewMemory } from './memory/new-memory.ts';
import { findSeenEvent, type InboxCount, type SeenEvent } from './read-under-lock.ts';
import { rekeyStart } from './rekey-start.ts';
import type { Store } from './session-transaction.ts';
import { findExpiredRounds } from './write-rounds.ts';

/** What a commit does, all of it decided under the lock. */
export interface Decision {
  event: SessionEvent;
  eventId: string;
  claim: LeaseClaim;
  contentDigest: string | null;
  inbox: InboxChange | null;
  /** An execution of an earlier turn that the event is about. */
  late?: AgentToolExecutionRow | null;
  /** What is remembered with it beside what the request brings along. */
  memories?: readonly NewMemory[];
}

/** An event that the session has taken before: there is nothing to commit. `drops` is a row of a message that has its turn already. */
export interface Known {
  seen: SeenEvent;
  contentDigest: string | null;
  drops?: AgentInboxRow;
}

/** What a decision is made from: read under the lock. */
export interface Undecided {
  request: CommitRequest;
  state: SessionState;
  version: number;
  /** The run that is under way; `null` before the first one. */
  runId: string | null;
  /** Whose session it is. */
  userId: string;
  calls: readonly OpenCall[];
  inbox: InboxCount;
  /** Whether anything is frozen or budgeted for the tenant. */
  hasControls: boolean;
  /** The database's time. */
  now: Date;
  limits: Limits;
  store: Store;
  newId(): string;
  /** @throws TOKEN_STALE, SESSION_BUSY, LEASE_HELD when the request's claim does not hold. */
  checkLease(): void;
}

/** Where a session may be completed. */
const COMPLETABLE: readonly SessionState[] = ['IDLE', 'FAILED'];
/** Where a message cannot begin a run: one is under way, or a person is asked. */
const BUSY: readonly SessionState[] = ['PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT'];

/**
 * The event that a request comes to.
 *
 * @throws SESSION_COMPLETED, SESSION_BUSY, LIMIT_WAITING_MESSAGES for a message that is not taken.
 * @throws EVENT_ILLEGAL when the inbox is to be drained and nothing waits, or evidence to be taken and there is none that fits.
 */
export async function decideEvent(em: EntityManager, undecided: Undecided): Promise<Decision | Known> {
  const { request, inbox } = undecided;
  const { event } = request;
  switch (event.type) {
    case 'sendMessage':
      return takeMessage(em, undecided, event);
    case 'drainInbox':
      return drainInbox(em, undecided);
    case 'takeEvidence':
      return takeEvidence(em, undecided);
    case 'decideApproval':
      return decide(em, undecided, event.decided);
    case 'expireInput':
      return expire(em, undecided);
    case 'unlessEvidenced': {
      // Facts come before guesses, and only a look under the lock tells whether there is one.
      const taken = await findTaken(em, undecided);
      return taken ?? asRequested(undecided, await started(em, undecided, event.event));
    }
    case 'settleByActing':
      return act(em, undecided, event);
    case 'completeSession':
      return complete(em, undecided, event.by);
    case 'model.replied':
      // A reply is final only where no message waits.
      return asRequested(undecided, { ...event, final: event.final && inbox.waiting === 0 });
    case 'model.calledTools':
      undecided.checkLease();
      return asRequested(undecided, await decidePlan(em, startingOf(undecided), event));
    case 'settleByPerson':
      return settle(em, undecided, event.event, event);
    case 'execution.settledByPerson':
      return settle(em, undecided, event, { answers: null, userId: null });
    case 'execution.started':
    case 'execution.held':
      return asRequested(undecided, await started(em, undecided, event));
    default:
      return asRequested(undecided, event);
  }
}

function startingOf({ request: { tenantId, sessionId }, userId, now, hasControls }: Undecided): Starting {
  return { tenantId, sessionId, userId, now, hasControls };
}

/** A start as what is frozen or over budget, and business keys, let it begin: it may become the opening of a question, or a refusal. */
async function started(em: EntityManager, undecided: Undecided, event: SessionEvent): Promise<SessionEvent> {
  const free = undecided.hasControls ? await holdStarts(em, startingOf(undecided), event) : event;
  return free.type === 'execution.started' ? rekeyStart(em, startingOf(undecided), free) : free;
}

function asRequested({ request }: Undecided, event: SessionEvent): Decision {
  const { eventId, claim, contentDigest = null } = request;
  return { event, eventId, claim, contentDigest, inbox: null };
}

type SendMessage = Extract<Intent, { type: 'sendMessage' }>;

async function takeMessage(em: EntityManager, undecided: Undecided, intent: SendMessage): Promise<Decision | Known> {
  const { request, state, inbox, limits, newId } = undecided;
  const { message, whenBusy } = intent;
  const { runId, messageId, content } = message;
  const known = messageId !== null && inbox.hasRows ? await findMessage(em, request, messageId) : null;
  if (known !== null) return { seen: asSeen(undecided, known), contentDigest: request.contentDigest ?? null };
  if (state === 'COMPLETED') throw completed(request);
  const asked = waitingFor(undecided);
  if (whenBusy === 'supersede' && asked.approvals > 0) {
    if (inbox.waiting >= limits.maxWaitingMessages) throw full(request, inbox.waiting);
    return { ...superseded(asked, newId()), inbox: { type: 'add', message, whenBusy, isNoted: false } };
  }
  if (asked.question !== null && state === 'AWAITING_INPUT' && whenBusy !== 'interrupt') {
    return asRequested(undecided, answer(undecided, asked.question, content));
  }
  const begins = !BUSY.includes(state) && (state === 'FAILED' || inbox.waiting === 0);
  if (begins) return asRequested(undecided, { type: 'user.messaged', runId, content });
  if (whenBusy === 'reject') throw busy(request, state);
  if (inbox.waiting >= limits.maxWaitingMessages) throw full(request, inbox.waiting);
  const isUrgent = whenBusy === 'interrupt' && state !== 'IDLE';
  const add: InboxChange = { type: 'add', message, whenBusy, isNoted: !isUrgent };
  // The message keeps its own event id for the turn that it becomes.
  if (isUrgent) return { ...cancelled(newId()), inbox: add };
  const claim = { type: 'none' } as const;
  return { ...asRequested(undecided, { type: 'message.enqueued', runId }), claim, inbox: add };
}

type SettleByActing = Extract<Intent, { type: 'settleByActing' }>;

/** The tool runs only for the holder of the lease, and only for the attempt that the session waits for. */
async function act(em: EntityManager, undecided: Undecided, intent: SettleByActing): Promise<Decision> {
  const { request, calls, store, state } = undecided;
  undecided.checkLease();
  const call = calls.find(({ executionId }) => executionId === intent.executionId);
  if (call === undefined || !isInFlight(call) || call.attempt !== intent.attempt) {
    const { executionId, attempt } = intent;
    throw new TurnlockError('EVENT_ILLEGAL', {
      message: `attempt is not under way: ${attempt} of execution ${executionId} (found ${state} and another attempt or none)`,
      details: { executionId, attempt },
    });
  }
  const { event, memories } = await actInSavepoint(store, em, { ...intent, tenantId: request.tenantId });
  return { ...asRequested(undecided, event), memories };
}

interface Asked {
  /** The first question that the user has not answered; `null` where none is open. */
  question: string | null;
  approvals: number;
  /** Of everything that waits for approval or an answer. */
  executionIds: string[];
}

function waitingFor({ calls }: Undecided): Asked {
  const waiting = calls.filter(({ waitsFor }) => waitsFor !== null);
  const question = waiting.find(({ waitsFor }) => waitsFor === 'answer')?.executionId ?? null;
  const approvals = waiting.filter(({ waitsFor }) => waitsFor === 'approval').length;
  return { question, approvals, executionIds: waiting.map(({ executionId }) => executionId) };
}

/** The message as the answer to the agent's question: it belongs to the run that is under way. */
function answer({ runId }: Undecided, answersExecutionId: string, content: UserTurnContent): SessionEvent {
  return { type: 'user.messaged', runId: runId ?? '', answersExecutionId, content };
}

function superseded({ executionIds }: Asked, eventId: string): Omit<Decision, 'inbox'> {
  const error = { code: 'APPROVAL_SUPERSEDED', message: 'It was not done: superseded by a message of the user.' };
  const event = { type: 'approval.superseded', executionIds, by: 'message', content: { error } } as const;
  return { event, eventId, claim: { type: 'none' }, contentDigest: null };
}

async function decide(em: EntityManager, undecided: Undecided, decided: Decided): Promise<Decision | Known> {
  const outcome = await decideApproval(em, startingOf(undecided), decided);
  if ('event' in outcome) return asRequested(undecided, outcome.event);
  const { state: from, version: sequence } = undecided;
  const type = decided.decision.type === 'grant' ? 'approval.granted' : 'approval.denied';
  return {
    seen: { sequence, from, to: from, type, runId: null, event: null, contentDigest: null },
    contentDigest: null,
  };
}

async function settle(
  em: EntityManager,
  undecided: Undecided,
  event: EventOf<'execution.settledByPerson'>,
  as: SettledAs,
): Promise<Decision> {
  await checkSettler(em, startingOf(undecided), event, as);
  const given = await lateSettlement(em, undecided.request, undecided.calls, event);
  return given === null ? asRequested(undecided, event) : { ...asRequested(undecided, given.event), late: given.late };
}

async function expire(em: EntityManager, undecided: Undecided): Promise<Decision> {
  const { request, state, now } = undecided;
  const rounds = state === 'AWAITING_INPUT' ? await findExpiredRounds(em, request, now) : [];
  if (rounds.length === 0) throw nothingExpired(request, state);
  const error = { code: 'APPROVAL_EXPIRED', message: 'Nobody decided in time. It was not done.' };
  const executionIds = rounds.map(({ executionId }) => executionId);
  const fails = rounds.some(({ onExpiry }) => onExpiry === 'failSession');
  return asRequested(undecided, { type: 'input.expired', executionIds, fails, content: { error } });
}

async function takeEvidence(em: EntityManager, undecided: Undecided): Promise<Decision> {
  const { request, state } = undecided;
  const taken = await findTaken(em, undecided);
  if (taken === null) throw nothingIsKnown(request, state);
  return taken;
}

async function findTaken(em: EntityManager, undecided: Undecided): Promise<Decision | null> {
  const found = await findEvidence(em, undecided.request, undecided.calls);
  if (found === null) return null;
  const { event, evidenceId, late } = found;
  return { ...asRequested(undecided, event), eventId: eventIdOfEvidence(evidenceId), late };
}

function cancelled(eventId: string): Omit<Decision, 'inbox'> {
  const error = { code: 'RUN_CANCELLED', message: 'The run was cancelled by a message of the user.' };
  const event = { type: 'run.cancelled', by: 'message', content: { error } } as const;
  return { event, eventId, claim: { type: 'raise' }, contentDigest: null };
}

/** What a repeat of a message that still waits, or was refused, is answered with. */
function asSeen({ state, version }: Undecided, row: AgentInboxRow): SeenEvent {
  const { runId } = row;
  return {
    sequence: version,
    from: state,
    to: state,
    type: 'message.enqueued',
    runId,
    event: { type: 'message.enqueued', runId },
    contentDigest: rowDigest(row),
  };
}

async function drainInbox(em: EntityManager, undecided: Undecided): Promise<Decision | Known> {
  const { request, state, limits, newId } = undecided;
  const obeyed = undecided.inbox.isGivenUp ? await obeyParent(em, undecided) : null;
  if (obeyed !== null) return obeyed;
  const isFree = state === 'IDLE';
  const row = isFree ? await findNextMessage(em, request) : BUSY.includes(state) ? await findNews(em, request) : null;
  if (row === null) throw nothingWaits(request, state);
  const isNew = row.notedAt === null || row.notedAt === undefined;
  const ownId = isNew && row.messageId != null ? eventIdFromMessageId(row.messageId) : null;
  const contentDigest = rowDigest(row);
  const seen = ownId === null ? null : await findSeenEvent(em, request, ownId);
  if (seen !== null && seen.contentDigest === contentDigest) return { seen, contentDigest, drops: row };
  const asked = waitingFor(undecided);
  const question = state === 'AWAITING_INPUT' ? asked.question : null;
  const refusal = seen === null ? refusalOf(row, !isFree && question === null, limits) : 'MESSAGE_CONFLICT';
  if (refusal !== null) return rejected(row, refusal, newId());
  const { runId, whenBusy } = row;
  if (!isFree && whenBusy === 'interrupt') return { ...cancelled(newId()), inbox: null };
  if (!isFree && whenBusy === 'supersede' && asked.approvals > 0) return { ...superseded(asked, newId()), inbox: null };
  if (isFree || question !== null) {
    const content = contentOf(row);
    const begins = { type: 'user.messaged', runId, content } as const;
    const event = question === null ? begins : answer(undecided, question, content);
    const eventId = ownId ?? row.inboxId;
    return { event, eventId, claim: request.claim, contentDigest, inbox: { type: 'take', row } };
  }
  const event = { type: 'message.enqueued', runId } as const;
  return { event, eventId: ownId ?? newId(), claim: { type: 'none' }, contentDigest, inbox: { type: 'note', row } };
}

/**
 * What a session does once its parent gave its run up: the run that is under way is cancelled, one that has not begun never does. Where it
 * has ended by itself there is nothing to do. The word is forgotten with the commit, whatever that does.
 */
async function obeyParent(em: EntityManager, undecided: Undecided): Promise<Decision | null> {
  const { request, state, runId, newId } = undecided;
  const row = await findCancel(em, request);
  if (row === null) return null;
  em.remove(row);
  if (BUSY.includes(state) && runId === row.runId) {
    const error = { code: 'RUN_CANCELLED', message: row.content };
    const event = { type: 'run.cancelled', by: 'parent', content: { error } } as const;
    return { event, eventId: newId(), claim: { type: 'raise' }, contentDigest: null, inbox: null };
  }
  const message = await findMessageOfRun(em, request, row.runId);
  return message !== null && message.rejectedAt == null ? rejected(message, 'RUN_CANCELLED', newId()) : null;
}

function refusalOf(row: AgentInboxRow, isBusy: boolean, limits: Limits): ErrorCode | null {
  const why = whyNotStorable(row, limits);
  return why ?? (row.whenBusy === 'reject' && isBusy ? 'SESSION_BUSY' : null);
}

function rejected(row: AgentInboxRow, code: ErrorCode, eventId: string): Decision {
  const event = { type: 'message.rejected', runId: row.runId, code } as const;
  return { event, eventId, claim: { type: 'none' }, contentDigest: null, inbox: { type: 'reject', row, code } };
}

async function complete(em: EntityManager, undecided: Undecided, by: string): Promise<Decision> {
  const { request, state, inbox, newId } = undecided;
  const row = COMPLETABLE.includes(state) && inbox.waiting > 0 ? await findNextMessage(em, request) : null;
  if (row !== null) return rejected(row, 'SESSION_COMPLETED', newId());
  return asRequested(undecided, { type: 'session.completed', by });
}

function completed({ sessionId }: CommitRequest): TurnlockError {
  return new TurnlockError('SESSION_COMPLETED', {
    message: `session is final: it takes no message (session ${sessionId})`,
    details: { sessionId },
  });
}

function busy({ sessionId }: CommitRequest, state: SessionState): TurnlockError {
  const found = state === 'IDLE' ? 'messages that wait' : state;
  return new TurnlockError('SESSION_BUSY', {
    message: `session is busy: it takes no message now (found ${found}, wanted IDLE)`,
    details: { sessionId, state },
  });
}

function full({ sessionId }: CommitRequest, waiting: number): TurnlockError {
  return new TurnlockError('LIMIT_WAITING_MESSAGES', {
    message: `inbox is full: session ${sessionId} (found ${waiting} messages that wait)`,
    details: { sessionId, waiting },
  });
}

function nothingExpired({ sessionId }: CommitRequest, state: SessionState): TurnlockError {
  return new TurnlockError('EVENT_ILLEGAL', {
    message: `nothing has expired: session ${sessionId} (found ${state}, wanted a question whose time is over)`,
    details: { sessionId, state },
  });
}

function nothingIsKnown({ sessionId }: CommitRequest, state: SessionState): TurnlockError {
  return new TurnlockError('EVENT_ILLEGAL', {
    message: `no evidence can be taken now: session ${sessionId} (found ${state}, wanted evidence that fits)`,
    details: { sessionId, state },
  });
}

function nothingWaits({ sessionId }: CommitRequest, state: SessionState): TurnlockError {
  return new TurnlockError('EVENT_ILLEGAL', {
    message: `nothing is to be done about the inbox: session ${sessionId} (found ${state}, wanted a message that waits)`,
    details: { sessionId, state },
  });
}
