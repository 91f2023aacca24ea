import { randomUUID } from 'node:crypto';
import type { CallContent, ModelCallContent } from '../../../machines/event-content.ts';
import type { SessionEvent } from '../../../machines/session-event.ts';
import { commitEvent } from '../../../persistence/commit-event.ts';
import type { CommitRequest, CommitResult } from '../../../persistence/commit-request.ts';
import type { CommittedSession } from '../../../persistence/committed-session.ts';
import type { LeaseClaim } from '../../../persistence/lease.ts';
import type { Store } from '../../../persistence/session-transaction.ts';

const modelCall = (): ModelCallContent => ({
  modelCallId: randomUUID(),
  attempt: 1,
  modelId: 'model',
  agentVersion: 1,
  tools: [],
  windowFrom: 0,
  windowTo: 0,
  memories: [],
  startedAt: 0,
  latencyMs: 1,
  usage: {},
  finishReason: null,
  providerRequestId: null,
  errorCode: null,
  errorMessage: null,
});

const content = () => ({ text: 'text', parts: [], usage: {}, metadata: {}, normalised: null, modelCall: modelCall() });

const callContent: CallContent = {
  toolName: 'tool',
  toolVersion: 1,
  effect: 'idempotent',
  repeatable: false,
  params: {},
  paramsDigest: 'digest',
  providerCallId: null,
  rawInput: null,
  timeoutMs: 1_000,
  normalised: null,
};

/** The events of a run with one call, as they are committed. */
export function eventsOfRun() {
  const runId = randomUUID();
  const executionId = randomUUID();
  const result = { executionId, attempt: 1, outcome: 'succeeded' as const, content: { output: 1 } };
  return {
    executionId,
    messaged: {
      type: 'user.messaged',
      runId,
      content: { text: 'go', parts: [], metadata: {}, normalised: null },
    },
    calledTools: {
      type: 'model.calledTools',
      runId,
      calls: [{ executionId, ordinals: [0], verdict: 'start', content: callContent }],
      content: content(),
    },
    settled: { type: 'tool.settled', results: [result] },
    replied: { type: 'model.replied', runId, final: false, content: content() },
    attemptFailed: { type: 'model.attemptFailed', runId, retryInMs: 60_000, content: { message: 'no' } },
  } satisfies Record<string, SessionEvent | string>;
}

/** Who commits. */
export const HOLDER = 'holder';

/** The claim of a run's first commit. */
export const acquire: LeaseClaim = { type: 'acquire', holder: HOLDER, leaseMs: 15_000 };

/** The claim of its further ones. */
export function hold(token: number, holder = HOLDER): LeaseClaim {
  return { type: 'hold', holder, token, leaseMs: 15_000 };
}

/** Commits one event of a session, with an id of its own unless one is given. */
export async function take(
  store: Store,
  { tenantId, sessionId }: CommittedSession,
  event: SessionEvent,
  claim: LeaseClaim,
  more: Partial<CommitRequest> = {},
): Promise<CommitResult> {
  return await commitEvent(store, {
    tenantId,
    sessionId,
    eventId: randomUUID(),
    cause: 'worker',
    event,
    claim,
    ...more,
  });
}
