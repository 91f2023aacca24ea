import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { withClient } from '../support/with-client.ts';
import { blocksOf } from './code-blocks.ts';

const [roles = '', ...queries] = blocksOf(readFileSync('docs/operating.md', 'utf8'), 'sql');

test('docs/operating.md: the role that watches may run each query of the page', async () => {
  const { url, name } = await freshDatabase();
  const watch = `watch_${name.slice(-10)}`;
  await withClient(url, (client) => client.query(roles.replaceAll(/\bwatch\b/g, watch)));
  expect(queries.length).toBeGreaterThan(5);
  await withClient(url, async (client) => {
    await client.query(`SET ROLE ${watch}`);
    for (const query of queries) expect((await client.query(query)).rows, query).toEqual([]);
    await expect(client.query('SELECT FROM turnlock.agent_turns')).rejects.toMatchObject({ code: '42501' });
    await client.query('RESET ROLE');
    await client.query(`DROP OWNED BY ${watch}; DROP ROLE ${watch}`);
  });
});
