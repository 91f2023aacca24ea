import { nextSnapshot } from '../../machines/next-snapshot.ts';
import type { PlannedCall, SessionEvent } from '../../machines/session-event.ts';
import { initialSnapshot, type SessionSnapshot } from '../../machines/snapshot-codec.ts';
import {
  amended,
  attemptFailed,
  becameUnknown,
  calledTools,
  cancelled,
  completed,
  denied,
  evidenced,
  expired,
  granted,
  limitMet,
  messaged,
  modelFailed,
  planned,
  RUN,
  replied,
  result,
  retried,
  settled,
  settledByPerson,
  started,
} from './sample-events.ts';

const CALLS = ['call-0', 'call-1'];
const MAX_ATTEMPTS = 2;

/** Every event of a life with at most two calls a turn and two attempts a call. */
const EVENTS: SessionEvent[] = [
  messaged,
  replied,
  { ...replied, final: true },
  attemptFailed,
  modelFailed,
  limitMet,
  cancelled,
  completed,
  { ...retried, runId: RUN },
  { type: 'message.enqueued', runId: RUN },
  { type: 'message.rejected', runId: RUN, code: 'SESSION_BUSY' },
  { type: 'worker.tookOver', holder: 'worker-2' },
  { type: 'lease.released', by: 'ada' },
  { type: 'session.forked', originSessionId: 'session-0', originTurnIndex: 0, by: 'ada' },
  { type: 'machine.upgraded', fromVersion: 0, toVersion: 1, snapshot: {} },
  { type: 'memory.stored', memoryIds: [] },
  { type: 'content.erased', by: 'ada' },
  ...plans(),
  evidenced(0, 'call-of-an-earlier-turn'),
  settled(result('call-0'), result('call-1')),
  expired(false, ...CALLS),
  ...CALLS.flatMap(eventsOfCall),
];

function plans(): SessionEvent[] {
  const ways: Partial<PlannedCall>[] = [
    { verdict: 'start' },
    { verdict: 'queue' },
    { verdict: 'settled', outcome: 'succeeded' },
    { verdict: 'ask' },
    { verdict: 'ask', waitsFor: 'answer' },
  ];
  return ways.flatMap((first) => [
    calledTools(planned(0, first)),
    ...ways.map((second) => calledTools(planned(0, first), planned(1, second))),
  ]);
}

function eventsOfCall(call: string): SessionEvent[] {
  const attempts = Array.from({ length: MAX_ATTEMPTS }, (_, place) => place + 1);
  return [
    { ...messaged, answersExecutionId: call },
    { type: 'execution.held', executionIds: [call] },
    granted(call),
    denied(call),
    amended(call),
    { type: 'approval.superseded', executionIds: [call], by: 'message', content: {} },
    { type: 'execution.refused', executions: [{ executionId: call, content: {} }] },
    { type: 'tool.attemptFailed', results: [{ executionId: call, attempt: 1, retryInMs: 10, content: {} }] },
    expired(false, call),
    expired(true, call),
    ...(['succeeded', 'failed', 'runAgain'] as const).map((outcome) => settledByPerson(call, outcome)),
    ...attempts.flatMap((attempt): SessionEvent[] => [
      started(call, attempt),
      becameUnknown(call, attempt),
      settled(result(call, { attempt })),
      settled(result(call, { attempt, outcome: 'timedOut' })),
      { type: 'tool.evidenced', results: [{ ...result(call, { attempt }), outcome: 'succeeded' }], systemTurns: 0 },
    ]),
  ];
}

/** Every `from event to` that a session can take at all: found by trying each event in each snapshot that can be reached. */
export function takenArrows(): Set<string> {
  const arrows = new Set<string>();
  const found = new Map([[keyOf(initialSnapshot()), initialSnapshot()]]);
  // A map that grows while it is walked: each snapshot is visited once.
  for (const snapshot of found.values()) {
    for (const event of EVENTS) {
      if (!snapshot.can(event)) continue;
      const next = nextSnapshot(snapshot, event);
      arrows.add(`${snapshot.value} ${event.type} ${next.value}`);
      if (!found.has(keyOf(next))) found.set(keyOf(next), next);
    }
  }
  return arrows;
}

/** What decides which events are taken; not the counters, which grow for ever. */
function keyOf({ value, context: { runId, calls } }: SessionSnapshot): string {
  return JSON.stringify([value, runId, calls]);
}
