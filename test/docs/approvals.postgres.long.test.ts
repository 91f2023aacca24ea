import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Awaiting } from '../../index.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { waitFor } from '../support/wait-for.ts';
import { withClient } from '../support/with-client.ts';
import { blocksOf } from './code-blocks.ts';
import { consumerFolder } from './consumer-folder.ts';

const [refund = '', inbox = '', decide = '', webhook = ''] = blocksOf(readFileSync('docs/approvals.md', 'utf8'), 'ts');

/** A service around the programs of the page. Started again it does the same with the same ids. */
const main = `import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { defineAgent } from 'turnlock';
import { scripted } from 'turnlock/scripted';
import { decide } from './decide.ts';
import { inbox } from './inbox.ts';
import { refund } from './refund.ts';
import { start } from './webhook.ts';

const [databaseUrl, url] = process.argv.slice(2);
const model = scripted([{ toolCalls: [{ toolName: 'refund', input: { orderId: 42, cents: 20_000 } }] }, 'refunded']);
const agent = defineAgent({ name: 'support', model, instructions: 'Refund.', tools: [refund] });
const runtime = await start(databaseUrl, [agent], { url, secret: 'secret' });
await runtime.start();
const session = await runtime.createSession({ agent: 'support', tenantId: 'acme', userId: 'kim', externalId: 'ticket-1' });
await session.send('Refund order 42', { messageId: 'm1' });
const server = createServer(async (request, response) => {
  if (request.method === 'GET') return response.end(JSON.stringify(await inbox(runtime, 'acme')));
  const { tenantId, sessionId, executionId, digest } = await json(request);
  const { state, reply } = await decide(runtime, tenantId, sessionId, executionId, digest);
  response.end(JSON.stringify({ state, reply }));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

interface Told {
  headers: IncomingHttpHeaders;
  body: string;
}

/** The receiver of the webhook: it answers what it is told, one after the other, as `answers` says; then always well. */
async function startReceiver(answers: ((response: ServerResponse) => void)[]) {
  const told: Told[] = [];
  const server = createServer(async (request, response) => {
    told.push({ headers: request.headers, body: await text(request) });
    const answer = answers[told.length - 1] ?? ((answering) => answering.end());
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { told, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** The service as a process; resolves when it takes decisions. */
async function startService(folder: string, ...given: string[]) {
  const child = spawn(process.execPath, ['main.ts', ...given], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  const closed = once(child, 'close');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await closed;
  };
  atTestEnd(kill);
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { url: `http://127.0.0.1:${port}`, kill };
}

test('docs/approvals.md: a webhook that fails is told again, by another process too, and the decision comes back by HTTP', async () => {
  const { url: databaseUrl } = await freshDatabase();
  const receiver = await startReceiver([
    (response) => void response.writeHead(500).end(),
    (response) => void response.socket?.destroy(),
  ]);
  const files = { 'refund.ts': refund, 'inbox.ts': inbox, 'decide.ts': decide, 'webhook.ts': webhook, 'main.ts': main };
  const folder = consumerFolder(files);
  const first = await startService(folder, databaseUrl, receiver.url);
  await waitFor(() => receiver.told.length > 0, { for: 'the webhook to be told', timeoutMs: 60_000 });
  await first.kill();
  const second = await startService(folder, databaseUrl, receiver.url);
  // What was answered badly is told again; what the receiver took is not.
  const isTaken = () =>
    withClient(databaseUrl, (client) => client.query('SELECT announced_at FROM turnlock.agent_approvals'));
  await waitFor(async () => (await isTaken()).rows[0].announced_at !== null, {
    for: 'it to be taken',
    timeoutMs: 60_000,
  });
  expect(receiver.told.length).toBeGreaterThanOrEqual(3);
  expect(new Set(receiver.told.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  for (const { headers, body } of receiver.told) {
    expect(headers['x-signature']).toBe(createHmac('sha256', 'secret').update(body).digest('hex'));
  }
  const asked = JSON.parse(receiver.told.at(-1)!.body) as Awaiting;
  expect(asked).toMatchObject({
    toolName: 'refund',
    params: { orderId: 42, cents: 20_000 },
    question: 'More than 100 euros',
  });
  const open = (await (await fetch(second.url)).json()) as Awaiting[];
  expect(open.map(({ executionId, digest }) => [executionId, digest])).toEqual([[asked.executionId, asked.digest]]);
  const answer = await fetch(second.url, { method: 'POST', body: JSON.stringify(asked) });
  expect(await answer.json()).toEqual({ state: 'IDLE', reply: 'refunded' });
  expect(await (await fetch(second.url)).json()).toEqual([]);
});
