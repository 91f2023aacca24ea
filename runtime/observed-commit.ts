import type { ObservedCommit, ObservedSession } from '../adapters/telemetry/telemetry.contract.ts';
import type { RecordedEvent } from '../machines/session-event.ts';
import type { CommitTiming } from '../persistence/commit-observer.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';

/** A session as hooks are told of it. */
export function observed({ tenantId, sessionId, agentName, agentVersion }: CommittedSession): ObservedSession {
  return { tenantId, sessionId, agentName, agentVersion };
}

/** A commit as hooks are told of it: ids, names, counts and durations. */
export function observedCommit(
  { session, transition, waiting }: CommitResult,
  { durationMs, lockWaitMs, tries }: CommitTiming,
): ObservedCommit {
  const { event, from, to, runId, sequence } = transition;
  return {
    ...observed(session),
    runId,
    event: event.type,
    from,
    to,
    sequence,
    durationMs,
    lockWaitMs,
    tries,
    retries: retriesOf(event),
    unknownOutcomes: unknownOf(event),
    asked: askedBy(event),
    waiting,
    errorCode: to === 'FAILED' ? codeOf(event) : null,
  };
}

function retriesOf(event: RecordedEvent): ObservedCommit['retries'] {
  if (event.type === 'model.attemptFailed') return { of: 'model', count: 1 };
  return event.type === 'tool.attemptFailed' ? { of: 'tool', count: listOf(event.results).length } : null;
}

/** A call that was given up is one of which nothing says how it ended, too. */
function unknownOf(event: RecordedEvent): number {
  if (event.type === 'tool.outcomeUnknown') return listOf(event.executions).length;
  if (event.type !== 'tool.settled') return 0;
  return listOf(event.results).filter(({ outcome }) => outcome === 'timedOut').length;
}

function askedBy(event: RecordedEvent): ObservedCommit['asked'] {
  const asked = { approval: 0, answer: 0, unknown: 0 };
  if (event.type === 'model.calledTools') {
    for (const call of listOf(event.calls)) {
      if (call.verdict === 'ask') asked[call.waitsFor === 'answer' ? 'answer' : 'approval'] += 1;
    }
  }
  if (event.type === 'execution.held') asked.approval = listOf(event.executionIds).length;
  if (event.type === 'tool.outcomeUnknown') asked.unknown = listOf(event.executions).length;
  return asked;
}

function codeOf(event: RecordedEvent): string {
  return typeof event.code === 'string' ? event.code : 'FAILED';
}

function listOf(value: unknown): { [name: string]: unknown }[] {
  return Array.isArray(value) ? value : [];
}
