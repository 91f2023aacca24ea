import { describe, expect, test } from 'vitest';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import type { SessionEvent } from '../../machines/session-event.ts';
import { initialSnapshot } from '../../machines/snapshot-codec.ts';
import { turnIdempotencyKey } from '../../persistence/keys/turn-idempotency-key.ts';
import { projectRows } from '../../persistence/project-rows.ts';
import {
  becameUnknown,
  callContent,
  calledTools,
  cancelled,
  denied,
  evidenced,
  limitMet,
  messaged,
  modelContent,
  planned,
  replied,
  result,
  settled,
  settledByPerson,
  started,
  userContent,
} from '../machines/sample-events.ts';
import { projectEvents } from './project-events.ts';
import { NOW, SESSION } from './project-rows-ledger.ts';

const contents = [callContent({ paramsDigest: 'a' }), callContent({ paramsDigest: 'b' })];

describe('a message', () => {
  test('becomes the user turn of its run, with what was replaced in it', () => {
    const content = { ...userContent, metadata: { channel: 'mail' }, normalised: ['/message'] };
    const { last } = projectEvents({ ...messaged, content });
    expect(last.turns).toEqual([
      expect.objectContaining({ turnIndex: 0, role: 'user', content: content.text, runId: 'run-1', ...noCall }),
    ]);
    expect(last.turns[0]).toMatchObject({ metadata: { channel: 'mail' }, normalised: ['/message'] });
  });

  test('that answers a question becomes the tool turn of that question', () => {
    const question = planned(0, { verdict: 'ask', waitsFor: 'answer' });
    const answer = { ...messaged, answersExecutionId: 'call-0', content: { ...userContent, text: 'blue' } };
    const { last, ledger } = projectEvents(messaged, calledTools(question), answer);
    expect(last.turns).toMatchObject([{ turnIndex: 2, role: 'tool', content: 'blue', executionId: 'call-0' }]);
    expect(ledger.executions.get('call-0')).toMatchObject({ status: 'SUCCESS', outputPayload: 'blue' });
  });
});

describe('an answer of the model', () => {
  test('becomes an assistant turn with its tokens, beside the record of its attempt', () => {
    const content = { ...modelContent, usage: { inputTokens: 3 } };
    const { last } = projectEvents(messaged, { ...replied, content });
    expect(last.turns).toEqual([
      expect.objectContaining({ turnIndex: 1, role: 'assistant', content: 'Done', tokenUsageJson: { inputTokens: 3 } }),
    ]);
    expect(last.modelCall).toEqual(content.modelCall);
  });

  test('C42 two calls of one tool with different params are two executions with two keys', () => {
    const calls = contents.map((content, place) => planned(place, { content }));
    const { last } = projectEvents(messaged, calledTools(...calls));
    expect(last.insertedExecutions.map((row) => row.idempotencyKey)).toEqual([
      keyOf({ digest: 'a' }),
      keyOf({ digest: 'b' }),
    ]);
    expect(new Set(last.insertedExecutions.map((row) => row.idempotencyKey)).size).toBe(2);
  });

  test('C42 identical calls are one execution, and each gets its answer from it', () => {
    const once = planned(0, { ordinals: [0, 2] });
    const calls = [messaged, calledTools(once, planned(1, { content: callContent({ paramsDigest: 'other' }) }))];
    const { last, ledger } = projectEvents(...calls, settled(result('call-0'), result('call-1')));
    expect([...ledger.executions.keys()]).toEqual(['call-0', 'call-1']);
    expect(last.turns.map(({ callOrdinal, executionId }) => [callOrdinal, executionId])).toEqual([
      [0, 'call-0'],
      [1, 'call-1'],
      [2, 'call-0'],
    ]);
    expect(last.turns[2]?.content).toBe(last.turns[0]?.content);
  });

  test('C42 identical calls of a repeatable tool have keys that differ by their place', () => {
    const content = callContent({ repeatable: true });
    const { last } = projectEvents(messaged, calledTools(planned(0, { content }), planned(1, { content })));
    expect(last.insertedExecutions.map((row) => row.idempotencyKey)).toEqual([
      keyOf({ digest: 'digest', ordinal: 0 }),
      keyOf({ digest: 'digest', ordinal: 1 }),
    ]);
  });

  test('C03 C40 the key follows from session, turn, tool and digest alone', () => {
    const change = { toolVersion: 7, providerCallId: 'toolu_1', rawInput: '{}', params: { other: 1 }, timeoutMs: 1 };
    const same = planned(0, { executionId: 'call-7', verdict: 'queue', content: callContent(change) });
    const keys = [planned(0), same].map(
      (call) => projectEvents(messaged, calledTools(call)).last.insertedExecutions[0]?.idempotencyKey,
    );
    expect(keys).toEqual([keyOf({ digest: 'digest' }), keyOf({ digest: 'digest' })]);
  });

  test('C43 the same call in a later turn of the run has another key', () => {
    const again = calledTools(planned(0, { executionId: 'call-9' }));
    const { ledger } = projectEvents(messaged, calledTools(planned(0)), settled(result('call-0')), again);
    const keys = [...ledger.executions.values()].map((row) => row.idempotencyKey);
    expect(keys).toEqual([keyOf({ digest: 'digest' }), keyOf({ digest: 'digest', turnIndex: 3 })]);
  });

  test('a call that starts has deadline and token of its attempt; one that waits has neither', () => {
    const { last } = projectEvents(messaged, calledTools(planned(0), planned(1, { verdict: 'queue' })));
    expect(last.insertedExecutions).toMatchObject([
      { status: 'RUNNING', attempt: 1, fencingToken: 1, deadlineAt: new Date(NOW.getTime() + 30_000), startedAt: NOW },
      { status: 'PENDING', attempt: 0, fencingToken: null, deadlineAt: null, startedAt: NOW },
    ]);
  });

  test('C38 an invalid call is a failed execution with its raw text, told at once', () => {
    const content = callContent({
      rawInput: '{"a":',
      normalised: ['/arguments'],
      settled: { error: { code: 'PARAMS_INVALID', message: 'The arguments are not JSON.' }, normalised: ['/error'] },
    });
    const { last } = projectEvents(
      messaged,
      calledTools(planned(0, { verdict: 'settled', outcome: 'failed', content })),
    );
    expect(last.insertedExecutions).toMatchObject([
      {
        status: 'FAILED',
        attempt: 0,
        rawInput: '{"a":',
        errorCode: 'PARAMS_INVALID',
        completedAt: NOW,
        normalised: ['/arguments', '/error'],
      },
    ]);
    expect(last.turns).toMatchObject([
      { role: 'assistant', turnIndex: 1 },
      { role: 'tool', turnIndex: 2, content: 'The call failed: The arguments are not JSON.', callTurnId: 'id-1' },
    ]);
  });
});

describe('an outcome', () => {
  test('C08 waits on its execution until its last sibling is settled', () => {
    const before = [messaged, calledTools(planned(0), planned(1))];
    const first = projectEvents(...before, settled(result('call-1', { content: { output: 'second' } })));
    expect(first.last.turns).toEqual([]);
    expect(first.ledger.executions.get('call-1')).toMatchObject({ status: 'SUCCESS', outputPayload: 'second' });
    const both = projectEvents(
      ...before,
      settled(result('call-1', { content: { output: 'second' } })),
      settled(result('call-0')),
    );
    expect(both.last.turns.map((turn) => turn.content)).toEqual(['ok', 'second']);
  });

  test('C31 a failure is told as one, and its siblings are recorded on their own', () => {
    const failure = {
      outcome: 'failed',
      content: { error: { code: 'TOOL_FAILED', message: 'no such order' } },
    } as const;
    const { last, ledger } = projectEvents(
      messaged,
      calledTools(planned(0), planned(1)),
      settled(result('call-0', failure), result('call-1')),
    );
    expect(last.turns.map((turn) => turn.content)).toEqual(['The call failed: no such order', 'ok']);
    expect(ledger.executions.get('call-0')).toMatchObject({
      status: 'FAILED',
      errorCode: 'TOOL_FAILED',
      errorMessage: 'no such order',
      outputPayload: null,
    });
  });

  test('C34 what was replaced in params and output stands on the row', () => {
    const content = callContent({ normalised: ['/params/note'] });
    const changed = result('call-0', { content: { output: '\uFFFD', normalised: ['/output'] } });
    const { ledger } = projectEvents(messaged, calledTools(planned(0, { content })), settled(changed));
    expect(ledger.executions.get('call-0')?.normalised).toEqual(['/params/note', '/output']);
  });

  test('no note is made where nothing was replaced', () => {
    const { ledger } = projectEvents(
      messaged,
      calledTools(planned(0)),
      settled(result('call-0', { content: { output: 1, normalised: [] } })),
    );
    expect(ledger.executions.get('call-0')?.normalised).toBeNull();
  });

  test.each<[string, SessionEvent, string | null]>([
    ['by a person', settledByPerson('call-0', 'succeeded'), 'ada'],
    ['by cancel', cancelled, 'ada'],
    ['by evidence', evidenced(0, 'call-0'), null],
  ])('%s of an unknown call says who', (_title, event, who) => {
    const { ledger } = projectEvents(messaged, calledTools(planned(0)), becameUnknown('call-0'), event);
    expect(ledger.executions.get('call-0')).toMatchObject({ settledBy: who, completedAt: NOW });
  });

  test('a refusal is a failure that says who refused', () => {
    const content = { error: { code: 'DENIED', message: 'not today' } };
    const ask = calledTools(planned(0, { verdict: 'ask' }));
    const { last, ledger } = projectEvents(messaged, ask, { ...denied('call-0'), content });
    expect(ledger.executions.get('call-0')).toMatchObject({ status: 'FAILED', settledBy: 'ada', errorCode: 'DENIED' });
    expect(last.turns[0]?.content).toBe('The call failed: not today');
  });
});

describe('C06 an unknown outcome', () => {
  const unknown = [messaged, calledTools(planned(0), planned(1, { verdict: 'queue' })), becameUnknown('call-0')];

  test('is a running execution that says since when and why', () => {
    const { last } = projectEvents(...unknown);
    expect(last.updatedExecutions).toEqual(new Map([['call-0', { unknownAt: NOW, unknownReason: 'crash' }]]));
    expect(last.turns).toEqual([]);
  });

  test.each<[string, SessionEvent]>([
    ['cancel', cancelled],
    ['a limit', limitMet],
  ])('after %s it is told as unknown, and what never started as failed', (_title, event) => {
    const before = event === limitMet ? unknown.slice(0, 2) : unknown;
    const { last, ledger } = projectEvents(...before, event);
    expect(last.turns.map((turn) => turn.content)).toEqual([
      expect.stringMatching(/^The outcome of this call is unknown: it was started/),
      expect.stringMatching(/^The call failed: /),
    ]);
    expect(last.turns.map((turn) => turn.parts)).toMatchObject([[{ outcome: 'unknown' }], [{ outcome: 'failed' }]]);
    expect([...ledger.executions.values()].map((row) => row.status)).toEqual(['TIMED_OUT', 'FAILED']);
  });

  test('that was given up and then proved loses the error it was given up with', () => {
    const content = { error: { code: 'TOOL_TIMED_OUT', message: 'no answer' } };
    const { ledger } = projectEvents(
      messaged,
      calledTools(planned(0), planned(1)),
      settled(result('call-0', { outcome: 'timedOut', content })),
      evidenced(0, 'call-0'),
    );
    expect(ledger.executions.get('call-0')).toMatchObject({
      status: 'SUCCESS',
      outputPayload: 'ok',
      errorMessage: null,
      errorCode: null,
    });
  });

  test('that was given up and runs again is settled no more', () => {
    const { ledger } = projectEvents(
      messaged,
      calledTools(planned(0), planned(1)),
      settled(result('call-0', { outcome: 'timedOut' })),
      started('call-0', 2),
    );
    expect(ledger.executions.get('call-0')).toMatchObject({ status: 'RUNNING', attempt: 2, completedAt: null });
  });
});

test('C03 a new attempt keeps key and params, and gets a deadline of its own', () => {
  const { last } = projectEvents(messaged, calledTools(planned(0)), started('call-0', 2));
  expect(last.updatedExecutions).toEqual(
    new Map([
      ['call-0', { attempt: 2, startedAt: NOW, deadlineAt: new Date(NOW.getTime() + 30_000), fencingToken: 1 }],
    ]),
  );
});

test('events about the session alone write no row', () => {
  const { last } = projectEvents(messaged, calledTools(planned(0)), { type: 'worker.tookOver', holder: 'worker-2' });
  const nothing = { turns: [], insertedExecutions: [], updatedExecutions: new Map(), modelCall: null };
  expect(last).toEqual({ ...nothing, children: [], givenUp: [] });
});

test('a call whose row is missing is a broken invariant, not a crash', () => {
  const before = [messaged, calledTools(planned(0))].reduce(nextSnapshot, initialSnapshot());
  const after = nextSnapshot(before, cancelled);
  const input = { before, after, event: cancelled, executions: [], callTurnId: null, now: NOW, token: 1 };
  expect(() => projectRows({ ...input, sessionId: SESSION, newId: () => 'id' })).toThrow(
    expect.objectContaining({ code: 'INVARIANT_BROKEN', details: { executionId: 'call-0' } }),
  );
});

const noCall = { executionId: null, callTurnId: null, callOrdinal: null };

function keyOf(parts: { digest: string; ordinal?: number; turnIndex?: number }): string {
  return turnIdempotencyKey({ sessionId: SESSION, turnIndex: 1, toolName: 'refund', ...parts });
}
