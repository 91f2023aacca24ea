import { expect, test } from 'vitest';
import { executionGraph, sessionGraph } from '../../machines/legal-graph.ts';
import {
  EXECUTION_PAIRS_SQL,
  EXECUTION_STATUSES_SQL,
  SESSION_PAIRS_SQL,
  SESSION_STATES_SQL,
} from '../../migrations/initial/legal-pairs.sql.ts';
import { generateGuards } from '../../scripts/generate-guards.ts';
import { EXECUTION_MATRIX, everyPair, SESSION_MATRIX } from './legal-matrices.ts';

test('the migration holds the guards that the machines generate', () => {
  expect({
    sessionStates: SESSION_STATES_SQL,
    executionStatuses: EXECUTION_STATUSES_SQL,
    sessionPairs: SESSION_PAIRS_SQL,
    executionPairs: EXECUTION_PAIRS_SQL,
  }).toEqual(generateGuards());
});

test.each(everyPair(SESSION_MATRIX))('the session machine: $from to $to is legal: $legal', ({ from, to, legal }) => {
  expect(sessionGraph.some((pair) => pair.from === from && pair.to === to)).toBe(legal);
});

test.each(everyPair(EXECUTION_MATRIX))(
  'the execution machine: $from to $to is legal: $legal',
  ({ from, to, legal }) => {
    expect(executionGraph.some((pair) => pair.from === from && pair.to === to)).toBe(legal);
  },
);
