import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { spawnChild } from '../../support/child.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('C45 two processes that are told to refund the same orders in the same instant refund each once', async () => {
  const { url } = await freshDatabase();
  const ledger = join(await temporaryFolder('turnlock-test-claims-'), 'ledger');
  writeFileSync(ledger, '');
  const task = JSON.stringify({ url, ledger });
  const children = ['one', 'two'].map(() => spawnChild('test/runtime/keys/claim.child.ts', { args: [task] }));
  for (const child of children) await child.next('ready', { timeoutMs: 100_000 });
  const orders = Array.from({ length: 12 }, (_, n) => `order-${n}`);
  const told: string[] = [];
  for (const order of orders) {
    for (const child of children) child.send({ type: 'refund', order });
    for (const child of children) {
      const { reply, state } = await child.next('told', { timeoutMs: 100_000 });
      expect(state).toBe('IDLE');
      told.push(reply as string);
    }
  }
  const acts = readFileSync(ledger, 'utf8').trim().split('\n');
  expect(acts.map((line) => line.split(' ')[0])).toEqual(orders);
  const ran = told.filter((reply) => reply.startsWith('refunded '));
  const answered = told.filter((reply) => /in progress elsewhere|^Not run again: a call with the same/.test(reply));
  expect([ran.length, answered.length]).toEqual([12, 12]);
});
