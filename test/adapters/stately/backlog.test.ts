import { expect, test } from 'vitest';
import { Backlog } from '../../../adapters/stately/backlog.ts';

const message = (type: string, sessionId: string, more = '') =>
  JSON.stringify({ type: `@xstate.${type}`, sessionId, more });
const sessionsOf = (backlog: Backlog) =>
  backlog.texts().map((text) => (JSON.parse(text) as { sessionId: string }).sessionId);

test('of large messages the oldest are let go first, then definitions, so that no more than 8 MB are kept', () => {
  const backlog = new Backlog();
  const large = 'x'.repeat(1_000_000);
  for (const id of ['a', 'b', 'c']) backlog.take(message('actor', id, large));
  for (let at = 0; at < 9; at += 1) backlog.take(message('event', `${at}`, large));
  expect(sessionsOf(backlog)).toEqual(['a', 'b', 'c', '4', '5', '6', '7', '8']);
  for (let at = 0; at < 9; at += 1) backlog.take(message('actor', `d${at}`, large));
  expect(sessionsOf(backlog)).toEqual(['d1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7', 'd8']);
});

test('a definition that comes again takes the place of the one before, and what is no message is not kept', () => {
  const backlog = new Backlog(2);
  for (const text of ['x', '[]', 'null', '{"type":"@xstate.actor"}', '{"type":"other","sessionId":"a"}']) {
    expect(backlog.take(text)).toBe(false);
  }
  for (const id of ['a', 'b', 'a']) backlog.take(message('actor', id));
  for (const id of ['1', '2', '3']) backlog.take(message('event', id));
  expect(sessionsOf(backlog)).toEqual(['b', 'a', '2', '3']);
  backlog.clearMessages();
  expect(sessionsOf(backlog)).toEqual(['b', 'a']);
});
