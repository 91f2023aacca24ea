import { EventEmitter } from 'node:events';
import type { PoolClient } from 'pg';
import { expect, test } from 'vitest';
import { PoolWire } from '../../../adapters/databases/pool-wire.ts';

/** A client whose answer comes with one notice. */
function clientWith(notice: { severity: string; code: string }): PoolClient {
  const client = new EventEmitter() as EventEmitter & { query(): Promise<unknown> };
  client.query = async () => {
    client.emit('notice', notice);
    return { rows: [], command: 'COMMIT', rowCount: null };
  };
  return client as unknown as PoolClient;
}

test.each([
  ['WARNING', '01000', true],
  ['WARNUNG', '01000', true],
  ['경고', '57P01', true],
  ['NOTICE', '00000', false],
  ['HINWEIS', '00000', false],
])('a %s with SQLSTATE %s: warned is %s, whatever language the server speaks', async (severity, code, warned) => {
  const wire = new PoolWire(clientWith({ severity, code }), () => 0);
  expect(await wire.send('commit')).toMatchObject({ warned });
});
