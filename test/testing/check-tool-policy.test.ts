import { expect, test } from 'vitest';
import { checkToolPolicy } from '../../testing/check-tool-policy.ts';
import { refundCheck } from './scene.ts';

test('what is no option, or not of its kind, is refused at once', async () => {
  const check = refundCheck(true);
  const refused = { code: 'OPTIONS_INVALID' };
  await expect(checkToolPolicy({ ...check, runs: 3 } as never)).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, world: null } as never)).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, tools: [] } as never)).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, calls: {} })).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, invariants: null } as never)).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, numRuns: 0 })).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, faults: ['flood' as never] })).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, endOnFailure: 'yes' as never })).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, keepIn: '' })).rejects.toMatchObject(refused);
  const onServer = { url: 'postgres://127.0.0.1:1/none' };
  await expect(checkToolPolicy({ ...check, keepIn: 'kept', database: onServer })).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, database: 'mysql' as never })).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, database: { url: 5 } as never })).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, database: { url: 'no URL' } })).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, prepare: 'CREATE TABLE' as never })).rejects.toMatchObject(refused);
  await expect(checkToolPolicy({ ...check, replay: 'no plan' })).rejects.toMatchObject(refused);
});

test.each([
  ['sessions', { tenants: 0 }],
  ['sessions', { users: 1.5 }],
  ['sessions', { sessions: 0 }],
  ['sessions', { session: 1 }],
  ['sessions', null],
  ['seed', Number.NaN],
  ['seed', 'abc'],
  ['faults', 'crash'],
  ['invariants', []],
  ['invariants', { 'it is a text': 'yes' }],
  ['calls', { refund: { order: '1' } }],
  ['policy', 'deny'],
  ['people', 'nobody'],
  ['people', { settles: () => null }],
  ['people', { settle: 'failed' }],
  ['everyStep', 'no'],
  ['replay', 5],
])('%s of %j are refused by their name', async (option, value) => {
  await expect(checkToolPolicy({ ...refundCheck(true), [option]: value } as never)).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining(option),
  });
});
