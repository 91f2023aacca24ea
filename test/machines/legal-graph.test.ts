import { describe, expect, test } from 'vitest';
import { EXECUTION_STATUSES } from '../../machines/execution-status.ts';
import { acceptedEvents, executionGraph, isLegalTransition, sessionGraph } from '../../machines/legal-graph.ts';
import { SESSION_STATES } from '../../machines/session-state.ts';

// Drawn by hand from the design, not from the machines: rows go from, columns go to, ● is legal.
const SESSIONS = `
                 IDLE PLANNING EXECUTING_TOOL AWAITING_INPUT COMPLETED FAILED
  IDLE           ●    ●        ●              ●              ●         ·
  PLANNING       ●    ●        ●              ●              ●         ●
  EXECUTING_TOOL ●    ●        ●              ●              ●         ●
  AWAITING_INPUT ●    ●        ●              ●              ·         ●
  COMPLETED      ·    ·        ·              ·              ·         ·
  FAILED         ·    ●        ·              ·              ●         ●
`;
const EXECUTIONS = `
                 PENDING RUNNING SUCCESS FAILED TIMED_OUT
  PENDING        ●       ●       ●       ●      ·
  RUNNING        ·       ●       ●       ●      ●
  SUCCESS        ·       ·       ·       ·      ·
  FAILED         ·       ·       ·       ·      ·
  TIMED_OUT      ·       ●       ●       ●      ·
`;

describe('the legal graph of sessions', () => {
  test('has a row and a column for every state', () => {
    expect(cellsOf(SESSIONS).map(({ from, to }) => [from, to])).toEqual(pairsOf(SESSION_STATES));
  });

  test.each(cellsOf(SESSIONS))('$from → $to is legal: $legal', ({ from, to, legal }) => {
    expect(sessionGraph.some((pair) => pair.from === from && pair.to === to)).toBe(legal);
    expect(isLegalTransition(from as never, to as never)).toBe(legal);
  });

  test('names each pair once', () => {
    expect(new Set(sessionGraph.map(({ from, to }) => `${from} ${to}`)).size).toBe(sessionGraph.length);
  });

  test('pairs that only a flow takes have no event', () => {
    const withoutEvent = sessionGraph.filter(({ on }) => on.length === 0).map(({ from, to }) => `${from} ${to}`);
    expect(withoutEvent).toEqual(['IDLE EXECUTING_TOOL', 'IDLE AWAITING_INPUT', 'EXECUTING_TOOL COMPLETED']);
  });
});

describe('the legal graph of executions', () => {
  test('has a row and a column for every status', () => {
    expect(cellsOf(EXECUTIONS).map(({ from, to }) => [from, to])).toEqual(pairsOf(EXECUTION_STATUSES));
  });

  test.each(cellsOf(EXECUTIONS))('$from → $to is legal: $legal', ({ from, to, legal }) => {
    expect(executionGraph.some((pair) => pair.from === from && pair.to === to)).toBe(legal);
  });
});

describe('acceptedEvents', () => {
  test('COMPLETED accepts nothing', () => {
    expect(acceptedEvents('COMPLETED')).toEqual([]);
  });

  test('FAILED is left by a retry or for good', () => {
    const everywhere = acceptedEvents('IDLE').filter((event) => acceptedEvents('EXECUTING_TOOL').includes(event));
    expect(acceptedEvents('FAILED').filter((event) => !everywhere.includes(event))).toEqual([
      'session.completed',
      'session.retried',
    ]);
  });

  test('names each event once, in order', () => {
    for (const state of SESSION_STATES) {
      const accepted = acceptedEvents(state);
      expect(accepted).toEqual([...new Set(accepted)].sort());
    }
  });
});

/** The cells of a drawn matrix, row by row. */
function cellsOf(drawn: string): { from: string; to: string; legal: boolean }[] {
  const [head = [], ...rows] = drawn
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return rows.flatMap(([from = '', ...marks]) =>
    head.map((to, column) => ({ from, to, legal: marks[column] === '●' })),
  );
}

function pairsOf(values: readonly string[]): [string, string][] {
  return values.flatMap((from) => values.map((to): [string, string] => [from, to]));
}
