import { expect, test } from 'vitest';
import { recordedEvent, type SessionEvent } from '../../machines/session-event.ts';
import { calledTools, messaged, planned, result, settled } from './sample-events.ts';

test('a recorded event holds what the machine reads and none of the contents', () => {
  expect(recordedEvent(messaged)).toEqual({ type: 'user.messaged', runId: 'run-1' });
});

test('contents are left out at any depth, in lists too', () => {
  expect(recordedEvent(calledTools(planned(0), planned(1, { verdict: 'ask', waitsFor: 'answer' })))).toEqual({
    type: 'model.calledTools',
    runId: 'run-1',
    calls: [
      { executionId: 'call-0', ordinals: [0], verdict: 'start' },
      { executionId: 'call-1', ordinals: [1], verdict: 'ask', waitsFor: 'answer' },
    ],
  });
  expect(recordedEvent(settled(result('call-0', { outcome: 'failed' })))).toEqual({
    type: 'tool.settled',
    results: [{ executionId: 'call-0', attempt: 1, outcome: 'failed' }],
  });
});

test('what is undefined is left out, as its row would leave it out', () => {
  const event = { ...messaged, answersExecutionId: undefined } as unknown as SessionEvent;
  expect(Object.keys(recordedEvent(event))).toEqual(['type', 'runId']);
});

test('the event itself stays whole', () => {
  const event = calledTools(planned(0));
  recordedEvent(event);
  expect(event.content.text).toBe('Done');
  expect(event.calls[0]?.content.toolName).toBe('refund');
});
