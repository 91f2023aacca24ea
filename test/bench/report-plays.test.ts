import { expect, test } from 'vitest';
import type { Played } from '../../bench/peers/play.ts';
import { reportPlays } from '../../bench/peers/report-plays.ts';

const played = (of: Partial<Played>): Played => ({
  peer: 'turnlock',
  receiver: 'neither',
  killPoint: 'afterTheAct',
  refunds: 1,
  requests: 1,
  ended: 'Refunded: R-1001',
  ...of,
});

test('a row for each framework, a column for each point that was played, and everything that came of a cell', () => {
  const plays = [
    played({ peer: 'dbos', refunds: 2 }),
    played({ ended: 'a person is asked about 1 call' }),
    played({ killPoint: 'beforeTheAct', refunds: 0, ended: 'a person is asked about 1 call' }),
    played({ killPoint: 'beforeTheAct' }),
    played({ peer: 'dbos', killPoint: 'beforeTheAct' }),
    played({ peer: 'dbos', receiver: 'keys' }),
  ];
  expect(reportPlays(plays, { dbos: 'DBOS 5', turnlock: 'Turnlock 0' })).toBe(`The receiver: honours idempotency keys

| killed | before the act | after the act |
|---|---|---|
| DBOS 5 |  | 1 refund, done |

The receiver: neither

| killed | before the act | after the act |
|---|---|---|
| DBOS 5 | 1 refund, done | **2 refunds**, done |
| Turnlock 0 | **0 refunds**, a person is asked or 1 refund, done | 1 refund, a person is asked |
`);
});
