import { expect, test } from 'vitest';
import { longSessionViolationsOf } from '../../bench/long-session-report.ts';
import type { SessionCost } from '../../bench/measure-long-session.ts';

function session(last: Partial<SessionCost['tenths'][number]> = {}, more: Partial<SessionCost> = {}): SessionCost {
  const first = { ms: 10, statements: 60, roundTrips: 30, tokens: 900, turns: 20 };
  return { tenths: [first, { ...first, ...last }], invalid: 0, summaries: 3, ...more };
}

test('a budget that holds, valid histories and a run that stays what it was are as promised, whatever the whole history costs', () => {
  const whole = session({ statements: 6_000, tokens: 90_000 }, { summaries: 0 });
  expect(longSessionViolationsOf({ budget: session({ statements: 70 }), whole }, 1_000)).toEqual([]);
});

test.each<[string, SessionCost, SessionCost]>([
  ['1200 tokens', session({ tokens: 1_200 }), session()],
  ['2 histories', session(), session({}, { invalid: 2 })],
  ['nothing was summarised', session({}, { summaries: 0 }), session()],
  ['1.50 times the statements', session({ statements: 90 }), session()],
])('%s is one violation', (what, budget, whole) => {
  expect(longSessionViolationsOf({ budget, whole }, 1_000)).toEqual([expect.stringContaining(what)]);
});
