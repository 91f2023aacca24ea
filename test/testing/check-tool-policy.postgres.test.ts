import { randomBytes } from 'node:crypto';
import { beforeAll, expect, inject, test } from 'vitest';
import { checkToolPolicy, type ToolPolicyCheck } from '../../testing/check-tool-policy.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { freePort } from '../support/free-port.ts';
import { withClient } from '../support/with-client.ts';
import { refundCheck } from './scene.ts';
import { seatCheck, TWO_ASK } from './seats.ts';

const PASSWORD = 'kit-word';
const role = `kit_${randomBytes(5).toString('hex')}`;
let url: string;

const admin = (statement: string) =>
  withClient(inject('postgresUrl'), async (client) => (await client.query(statement)).rows);

beforeAll(async () => {
  await admin(`CREATE ROLE ${role} LOGIN CREATEDB PASSWORD '${PASSWORD}'`);
  atTestEnd(async () => void (await admin(`DROP ROLE ${role}`)));
  url = urlOf({ username: role, password: PASSWORD });
});

function urlOf(change: Partial<Pick<URL, 'username' | 'password' | 'port' | 'pathname'>>): string {
  return Object.assign(new URL(inject('postgresUrl')), change).href;
}

/** Databases that were made by the kit of this file, by whatever role. */
const left = () => admin(`SELECT datname FROM pg_database WHERE datdba = '${role}'::regrole`);

test('a tool that pays twice is found on a server, in two commands, and nothing is left of the database', async () => {
  const { failure } = await checkToolPolicy({
    ...refundCheck(false),
    numRuns: 1,
    seed: 8,
    database: { url: inject('postgresUrl') },
  });
  expect(failure?.invariant).toBe('each call is paid once');
  expect(failure?.commands).toHaveLength(2);
  expect(failure?.text).toContain('5 of 5 plays of it broke this');
  expect(await left()).toEqual([]);
});

test('nothing is found on a server where the bank knows the key', async () => {
  const check = { ...refundCheck(true), numRuns: 6, seed: 7, database: { url: inject('postgresUrl') } };
  expect(await checkToolPolicy(check)).toMatchObject({ ok: true, runs: 6, seed: 7, failure: null });
});

test('two transactions that both look before one of them acts are found on a server', async () => {
  const { failure } = await checkToolPolicy({ ...seatCheck('none'), replay: TWO_ASK, database: { url } });
  expect(failure).toMatchObject({ invariant: 'a seat is taken by one', message: 'taken: has 1A, has 1A' });
  expect(failure?.text).toContain('5 of 5 plays of it broke this');
});

test('who waits for a lock that another process holds goes on after it, and sees what it wrote', async () => {
  const check = { ...seatCheck('ofTheSeat'), replay: TWO_ASK, database: { url } };
  expect(await checkToolPolicy(check)).toMatchObject({ ok: true, failure: null });
});

test('the database is dropped where a check throws, its tables too', async () => {
  const world = () => {
    throw new Error('no world');
  };
  await expect(checkToolPolicy({ ...refundCheck(true), world, database: { url } })).rejects.toThrow('no world');
  const prepare = async () => {
    throw new Error('no tables');
  };
  await expect(checkToolPolicy({ ...seatCheck('none'), prepare, database: { url } })).rejects.toThrow('no tables');
  const misspelt: NonNullable<ToolPolicyCheck<null>['prepare']> = async (query) => void (await query('SELECT nowhere'));
  await expect(checkToolPolicy({ ...seatCheck('none'), prepare: misspelt, database: { url } })).rejects.toMatchObject({
    code: '42703',
    message: expect.stringContaining('nowhere'),
  });
  expect(await left()).toEqual([]);
});

test('a server that cannot be used is refused by its reason, without a password', async () => {
  const poor = `${role}_poor`;
  await admin(`CREATE ROLE ${poor} LOGIN PASSWORD '${PASSWORD}'`);
  atTestEnd(async () => void (await admin(`DROP ROLE ${poor}`)));
  const answers = {
    PRIVILEGE_MISSING: urlOf({ username: poor, password: PASSWORD }),
    DATABASE_LOGIN_REFUSED: urlOf({ username: role, password: `${PASSWORD}-wrong` }),
    DATABASE_UNREACHABLE: urlOf({ username: role, password: PASSWORD, port: String(await freePort()) }),
    OPTIONS_INVALID: `mysql://${role}:${PASSWORD}@127.0.0.1/none`,
  };
  for (const [code, given] of Object.entries(answers)) {
    const error = await checkToolPolicy({ ...refundCheck(true), database: { url: given } }).catch((one) => one);
    expect({ given, code: error.code }).toEqual({ given, code });
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain(PASSWORD);
  }
  expect(await left()).toEqual([]);
});
