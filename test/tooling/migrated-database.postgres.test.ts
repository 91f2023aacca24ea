import { expect, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { withClient } from '../support/with-client.ts';

const SESSIONS = `SELECT to_regclass('turnlock.agent_sessions') IS NOT NULL AS found`;

test.each([
  ['migrated', true],
  ['empty', false],
] as const)('a database that is %s has the tables: %s', async (state, found) => {
  const { url } = await freshDatabase({ state });
  expect((await withClient(url, (client) => client.query(SESSIONS))).rows).toEqual([{ found }]);
});
