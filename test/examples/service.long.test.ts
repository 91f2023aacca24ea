import { chmodSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { consumerFolder } from '../docs/consumer-folder.ts';
import { runNode } from '../docs/run-node.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { processIsAlive } from '../support/process-is-alive.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { type ServiceExample, startService } from './start-service.ts';

const FOLDER = 'examples/service';
const cookie = 'desk-user=ana';

/** Sends a message as the page does, and waits until the conversation rests. */
async function refundOrder(service: ServiceExample, orderId: string): Promise<string> {
  const text = `Please refund order ${orderId}.`;
  const response = await fetch(`${service.url}/api/chat`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({
      id: `long-${orderId}`,
      trigger: 'submit-message',
      messages: [{ id: `message-${orderId}`, role: 'user', parts: [{ type: 'text', text }] }],
    }),
  });
  expect(response.status).toBe(200);
  return await response.text();
}

test('examples/service starts by one command with a server of its own, serves, and leaves nothing behind after Ctrl-C', async () => {
  const temporary = await temporaryFolder('service-');
  chmodSync(temporary, 0o711); // run by root, the server is another user and must get through
  const service = await startService({ TMPDIR: temporary });
  const postmaster = () => {
    const [folder = ''] = readdirSync(temporary);
    return Number(readFileSync(join(temporary, folder, 'data', 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  };
  const server = postmaster();
  await service.answerAfter(0);
  const stream = await refundOrder(service, '42');
  expect(stream).toContain('Done: order 42 is paid back, 31.50 EUR.');
  expect(await service.surroundings()).toMatchObject({
    ledger: [{ type: 'asked' }, { type: 'booked', orderId: '42' }],
  });
  expect(await service.stop('SIGINT')).toBe(0);
  await waitFor(() => !processIsAlive(server), { for: 'the database server to be gone' });
  expect(readdirSync(temporary)).toEqual([]);
});

test('examples/service keeps its sessions in a database that is given, and what it started ends when it is killed', async () => {
  const { url } = await freshDatabase({ state: 'empty' });
  const first = await startService({ DATABASE_URL: url });
  await first.answerAfter(0);
  await refundOrder(first, '42');
  await first.stop('SIGKILL');
  const second = await startService({ DATABASE_URL: url });
  await second.answerAfter(0);
  const stream = await refundOrder(second, '42');
  expect(stream).toContain('Done: order 42 is paid back, 31.50 EUR.');
  expect(await second.surroundings()).toMatchObject({ ledger: [] });
});

test('examples/service compiles as strictly as its tsconfig.json says, page and processes', async () => {
  const names = globSync(['*.ts', 'page/*.tsx', '*.json'], { cwd: FOLDER });
  const folder = consumerFolder(
    Object.fromEntries(names.map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')])),
  );
  const { stdout } = await runNode(folder, [resolve('node_modules/typescript/bin/tsc'), '-p', '.']);
  // Sources of ours stand in for declarations here, and are compiled by their own settings.
  expect(stdout.split('\n').filter((line) => /^(page\/)?[\w.-]+\(/.test(line))).toEqual([]);
});
