import type { Limits } from '../../limits.ts';
import { isInFlight, type OpenCall, waitsForPerson, waitsToRetry } from '../../machines/open-calls.ts';
import { isResting, type SessionState } from '../../machines/session-state.ts';
import type { Build } from '../../persistence/build.ts';
import { childSessionId } from '../../persistence/keys/child-ids.ts';
import { isLeaseLive } from '../../persistence/lease.ts';
import type { Awaiting } from '../../persistence/list-awaiting.ts';
import { owedSince } from '../../persistence/owed-since.ts';
import type { ControlSummary } from '../../persistence/read-controls-by-id.ts';
import type { LastFailure } from '../../persistence/read-last-failure.ts';
import { isWithChild } from '../../persistence/row-changes.ts';
import type { Standing, StandingCall } from '../../persistence/standing.ts';
import { askedWait } from './asked-wait.ts';
import { forkWords, recoverWords, releaseWords, retryWords } from './command-words.ts';
import type { Unblocking, Waiting } from './explanation.ts';

/** What an explanation follows from. */
export interface Situation {
  standing: Standing;
  /** The open rounds of asking. */
  asked: readonly Awaiting[];
  /** Freezes and budgets that the rounds name and that are still in force. */
  controls: readonly ControlSummary[];
  /** How the last attempt of the model call failed. */
  failure: LastFailure | null;
  /** States of child sessions, by the execution that they answer. */
  children: Map<string, SessionState>;
  limits: Limits;
  build: Build | undefined;
}

/** What `situation` waits for, that which has to go first first. A pure function of what was read. */
export function waitsOf(situation: Situation): Waiting[] {
  const { standing } = situation;
  const { state, problem } = standing;
  const isNewer = problem?.code === 'MACHINE_VERSION_UNSUPPORTED';
  if (problem !== null && !isNewer) return [quarantined(standing, problem)];
  const alone = isNewer ? [stranded('machine', standing)] : strandedWaits(situation);
  const unheld = unheldWaits(situation);
  const people = inCallOrder(situation).map((asked) => askedWait(asked, situation));
  if (unheld.length > 0) return [...alone, ...unheld, ...people];
  if (isResting(state)) return [...alone, ...people, ...restingWaits(situation)];
  return [...alone, ...leaseWaits(situation), ...effectWaits(situation), ...people];
}

/** What persons are asked, in the order of the calls. */
function inCallOrder({ asked, standing }: Situation): Awaiting[] {
  const place = new Map(standing.calls.map(({ executionId }, index) => [executionId, index]));
  return [...asked].sort((a, b) => (place.get(a.executionId) ?? 0) - (place.get(b.executionId) ?? 0));
}

function quarantined(standing: Standing, { code, message }: { code: string; message: string }): Waiting {
  return {
    kind: 'quarantined',
    problem: { code, message },
    unblockedBy: 'No build goes on with it. Nothing of it is lost: a fork has its history and goes on in its place.',
    commands: [forkWords(standing)],
  };
}

function strandedWaits({ standing, build }: Situation): Waiting[] {
  const { state, agent, stranded: by } = standing;
  if (build === undefined || state === 'COMPLETED') return [];
  if (build.agents[agent] === undefined) return [stranded('unknownAgent', standing)];
  return by === null ? [] : [stranded(by, standing)];
}

const NEWER = {
  machine: 'A newer build has gone on with it, by a newer session machine.',
  agent: 'A newer build has gone on with it, by a newer version of its agent.',
  tool: 'A newer build has gone on with it, by a newer version of a tool of an open call.',
  unknownAgent: 'This build has no agent of that name.',
} as const;

function stranded(by: keyof typeof NEWER, { agent, agentVersion }: Standing): Waiting {
  const wanted =
    by === 'agent' ? `version ${agentVersion} or newer of agent ${agent}` : `agent ${agent} and all of that`;
  const commands = [[...recoverWords(), '--config', 'CONFIG_OF_THAT_BUILD']];
  return { kind: 'stranded', by, unblockedBy: `${NEWER[by]} A build with ${wanted} goes on with it.`, commands };
}

/** Work that is owed and that nobody is at. */
function unheldWaits({ standing }: Situation): Waiting[] {
  const { now, leaseHolder } = standing;
  const dueAt = owedSince(standing);
  if (dueAt === null || dueAt > now) return [];
  const unblockedBy =
    leaseHolder === null
      ? 'Any worker goes on with it; none has. Is one running that knows its agent?'
      : 'Its worker is gone. Any other one goes on with it; none has. Is one running that knows its agent?';
  return [{ kind: 'worker', dueAt, lastHolder: leaseHolder, unblockedBy, commands: [recoverWords()] }];
}

/** A lease that is live and whose holder gave no sign of life for as long as two heartbeats take. */
function leaseWaits({ standing, limits }: Situation): Waiting[] {
  const { leaseHolder: holder, leaseExpiresAt: expiresAt, now } = standing;
  if (holder === null || expiresAt === null || !isLeaseLive({ leaseExpiresAt: expiresAt }, now)) return [];
  const heartbeatAt = new Date(expiresAt.getTime() - limits.leaseMs);
  if (now.getTime() - heartbeatAt.getTime() < 2 * limits.heartbeatMs) return [];
  const unblockedBy =
    'Its worker is silent: when its lease ends another one goes on. Take it away now only where you know that it is gone.';
  return [{ kind: 'lease', holder, expiresAt, heartbeatAt, unblockedBy, commands: [releaseWords(standing)] }];
}

function restingWaits({ standing, failure }: Situation): Waiting[] {
  const { state, snapshot, inbox } = standing;
  if (state === 'IDLE') {
    return [{ kind: 'message', unblockedBy: 'Nothing is owed: the next message begins a run.', commands: [] }];
  }
  if (state !== 'FAILED') return [];
  const code = snapshot?.context.failureCode ?? 'UNKNOWN';
  const unblockedBy = 'A new run from its history, or its end by session.complete().';
  const facts = { code, error: failure?.message ?? null, messages: inbox.waiting };
  return [{ kind: 'failed', ...facts, unblockedBy, commands: [retryWords(standing)] }];
}

/** What somebody is at, or will be when its time has come. */
function effectWaits(situation: Situation): Waiting[] {
  const { standing } = situation;
  const { state, snapshot } = standing;
  if (snapshot === null) return [];
  if (state === 'PLANNING') return [modelWait(situation, snapshot.context.failedModelAttempts)];
  const { calls } = snapshot.context;
  const mayBegin = !calls.some(waitsForPerson);
  return calls.flatMap((call) => {
    const row = standing.calls.find(({ executionId }) => executionId === call.executionId);
    return row === undefined ? [] : callWaits(situation, call, row, mayBegin);
  });
}

const BY_ITSELF = 'It goes on by itself.';

function modelWait({ standing, failure }: Situation, failed: number): Waiting {
  const { wakeAt, now, updatedAt } = standing;
  const attempt = failed + 1;
  if (failed > 0 && wakeAt !== null && wakeAt > now) {
    const unblockedBy = `${BY_ITSELF} Attempt ${attempt} begins then.`;
    return { kind: 'modelRetry', attempt, retryAt: wakeAt, error: failure?.message ?? null, unblockedBy, commands: [] };
  }
  return { kind: 'model', attempt, since: updatedAt, unblockedBy: BY_ITSELF, commands: [] };
}

function callWaits(situation: Situation, call: OpenCall, row: StandingCall, mayBegin: boolean): Waiting[] {
  const { executionId, toolName, idempotencyKey, attempt, deadlineAt, retryAt } = row;
  const facts = { executionId, toolName, idempotencyKey, unblockedBy: BY_ITSELF, commands: [] };
  if (isWithChild(row)) return [childWait(situation, row)];
  if (waitsToRetry(call)) {
    return [{ ...facts, kind: 'toolRetry', attempt: attempt + 1, retryAt, error: row.errorMessage }];
  }
  if (isInFlight(call)) return [{ ...facts, kind: 'tool', attempt, deadlineAt, ...overdue(situation, row) }];
  const begins = mayBegin && (call.status === 'PENDING' || call.runAgain);
  return begins ? [{ ...facts, kind: 'slot', unblockedBy: `${BY_ITSELF} It begins when another call has ended.` }] : [];
}

/** What an attempt comes to whose time is over and of which its holder has said nothing. */
function overdue({ standing, limits }: Situation, { deadlineAt }: StandingCall): Partial<Unblocking> {
  if (deadlineAt === null || deadlineAt.getTime() + limits.graceMs >= standing.now.getTime()) return {};
  const unblockedBy =
    'Its time is over and its worker has not said how it ended. Where that worker hangs, take the session away from it.';
  return { unblockedBy, commands: [releaseWords(standing)] };
}

function childWait({ children }: Situation, { executionId, toolName, idempotencyKey }: StandingCall): Waiting {
  return {
    kind: 'child',
    executionId,
    toolName,
    idempotencyKey,
    childSessionId: childSessionId(executionId),
    state: children.get(executionId) ?? null,
    waitsFor: [],
    unblockedBy: 'The end of the child session.',
    commands: [],
  };
}
