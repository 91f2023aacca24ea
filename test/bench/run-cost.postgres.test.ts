import { expect, test } from 'vitest';
import { measureRun } from '../../bench/measure-run.ts';
import { freshDatabase } from '../support/fresh-database.ts';

test('a run with one tool call is four commits and one read of the history, and not one statement more', async () => {
  const { url } = await freshDatabase();
  // Every run pays for a new statement here: raise a number only for what is worth it, and say so in docs/performance.md.
  expect(await measureRun(url)).toEqual({
    statements: 51,
    roundTrips: 36,
    reads: 1,
    commits: [
      { event: 'user.messaged', statements: 10, roundTrips: 7 },
      { event: 'model.calledTools', statements: 12, roundTrips: 9 },
      { event: 'tool.settled', statements: 12, roundTrips: 9 },
      { event: 'model.replied', statements: 11, roundTrips: 8 },
    ],
  });
});
