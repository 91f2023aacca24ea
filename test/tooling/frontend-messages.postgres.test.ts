import pg from 'pg';
import { expect, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { frontendMessages } from '../support/frontend-messages.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

test('what a client sends is told by type, name and statement', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const sent: Buffer[] = [];
  const proxy = await startTcpProxy(
    url,
    (chunk) => chunk,
    (chunk) => void sent.push(chunk),
  );
  const client = new pg.Client({ connectionString: proxy.through(url) });
  await client.connect();
  await client.query('select 1');
  await client.query('select $1', ['x']);
  await client.query({ name: 'named', text: 'select 3' });
  await client.end();
  const messages = frontendMessages(Buffer.concat(sent));
  expect(messages.filter(({ type }) => type === 'Q').map(({ texts }) => texts[0])).toEqual(['select 1']);
  expect(messages.filter(({ type }) => type === 'P').map(({ texts }) => texts.slice(0, 2))).toEqual([
    ['', 'select $1'],
    ['named', 'select 3'],
  ]);
  expect(messages.at(-1)?.type).toBe('X');
});
