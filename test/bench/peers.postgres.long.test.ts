import { expect, test } from 'vitest';
import { type PlayGround, play, setUp } from '../../bench/peers/play.ts';
import { freshDatabase } from '../support/fresh-database.ts';

/** Turnlock's rows of the comparison: what the others do is measured by `npm run bench:peers`, which installs them. */
test('the comparison: killed after the act, one refund stands in the outside ledger, whatever its receiver can do', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const ground: PlayGround = { databases: { langgraph: '', dbos: '', turnlock: url }, played: 0 };
  await setUp('turnlock', ground);
  const of = { peer: 'turnlock', killPoint: 'afterTheAct' } as const;
  const asked = { refunds: 1, requests: 1, ended: 'a person is asked about 1 call' };
  const refunded = { refunds: 1, ended: 'Refunded: R-1001' };
  expect(await play({ ...of, receiver: 'keys' }, ground)).toMatchObject({ ...refunded, requests: 2 });
  expect(await play({ ...of, receiver: 'lookUp' }, ground)).toMatchObject({ ...refunded, requests: 1 });
  expect(await play({ ...of, receiver: 'neither' }, ground)).toMatchObject(asked);
}, 600_000);
