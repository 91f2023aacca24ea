import { expect, test } from 'vitest';
import { measureRun } from '../../bench/measure-run.ts';
import { freshDatabase } from '../support/fresh-database.ts';

test('a run with one tool call is four commits and one read of the history, and not one statement more', async () => {
  const { url } = await freshDatabase();
  // Every run pays for a new statement here: raise a number only for what is worth it, and say so in docs/performance.md.
  expect(await measureRun(url)).toEqual({
    statements: 66,
    roundTrips: 36,
    reads: 1,
    commits: [
      { event: 'user.messaged', statements: 13, roundTrips: 7 },
      { event: 'model.calledTools', statements: 15, roundTrips: 9 },
      { event: 'tool.settled', statements: 15, roundTrips: 9 },
      { event: 'model.replied', statements: 14, roundTrips: 8 },
    ],
  });
});
