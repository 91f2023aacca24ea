import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { defineEntity, MikroORM, p } from '@mikro-orm/postgresql';
import { expect, test } from 'vitest';
import { freshRole } from '../adapters/databases/fresh-role.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { waitFor } from '../support/wait-for.ts';
import { withClient } from '../support/with-client.ts';
import { blocksOf, codeBlocks } from './code-blocks.ts';
import { consumerFolder } from './consumer-folder.ts';
import { runNode } from './run-node.ts';

const page = readFileSync('docs/embedding.md', 'utf8');
const files = Object.fromEntries(codeBlocks(page).flatMap(({ file, text }) => (file === null ? [] : [[file, text]])));
const [migration = ''] = blocksOf(page, 'sh');
const [stream = ''] = blocksOf(page, 'text');

/** The shop that the agent asks, outside everything of ours: what it was asked, and whether it answers. */
interface ShopServer {
  readonly url: string;
  readonly orders: string[];
  /** Idempotency keys. */
  readonly refunds: string[];
  /** What is not answered until {@link ShopServer.answerAll}. */
  silentOn: 'order' | 'refund' | null;
  answerAll(): void;
}

async function startShop(): Promise<ShopServer> {
  const held: (() => void)[] = [];
  const shop = {
    url: '',
    orders: [] as string[],
    refunds: [] as string[],
    silentOn: null as ShopServer['silentOn'],
    answerAll() {
      shop.silentOn = null;
      for (const answer of held.splice(0)) answer();
    },
  };
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await text(request)) || 'null') as { orderId: string } | null;
    const orderId = body?.orderId ?? request.url?.split('/').at(-1) ?? '';
    const asked = body === null ? 'order' : 'refund';
    if (asked === 'order') shop.orders.push(orderId);
    else shop.refunds.push(String(request.headers['idempotency-key']));
    const known = asked === 'order' ? { orderId, cents: 1999 } : { refundId: `R-${orderId}` };
    const answer = () => void response.end(JSON.stringify(known));
    if (shop.silentOn === asked) held.push(answer);
    else answer();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  shop.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return shop;
}

/** The page's program as a process. */
interface Service {
  readonly url: string;
  /** The lines that it logged. */
  readonly lines: { what: string; [fact: string]: unknown }[];
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

async function startService(folder: string, env: Readonly<Record<string, string>>): Promise<Service> {
  const child: ChildProcess = spawn(process.execPath, ['main.ts'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise<number | null>((done) => child.once('close', done));
  const lines: Service['lines'] = [];
  createInterface({ input: child.stdout! }).on('line', (line) => lines.push(JSON.parse(line)));
  async function kill(signal: NodeJS.Signals): Promise<number | null> {
    child.kill(signal);
    return await closed;
  }
  atTestEnd(async () => void (await kill('SIGKILL')));
  const listening = await waitFor(() => lines.find(({ what }) => what === 'listening'), {
    for: 'the service to listen',
    timeoutMs: 60_000,
  });
  return { url: `http://127.0.0.1:${(listening.address as AddressInfo).port}`, lines, kill };
}

const ANA = { 'x-tenant': 'acme', 'x-user': 'ana' };
const KIM = { 'x-tenant': 'acme', 'x-user': 'kim', 'x-role': 'staff' };

function sendMessage(url: string, ticket: string, messageId: string, words: string): Promise<Response> {
  const headers = { ...ANA, 'idempotency-key': messageId };
  return fetch(`${url}/tickets/${ticket}/messages`, { method: 'POST', headers, body: JSON.stringify({ text: words }) });
}

interface Ticket {
  state: string;
  awaiting: { executionId: string; toolName: string; idempotencyKey: string }[];
  history: { role: string; content: string }[];
}

async function getTicket(url: string, ticket: string, headers: Record<string, string> = KIM): Promise<Ticket> {
  return (await (await fetch(`${url}/tickets/${ticket}`, { headers })).json()) as Ticket;
}

function ticketIn(state: string, url: string, ticket: string): Promise<Ticket> {
  const look = async () => {
    const found = await getTicket(url, ticket);
    return found.state === state && found;
  };
  return waitFor(look, { for: `${ticket} to be ${state}`, timeoutMs: 60_000, everyMs: 100 });
}

/** The database, the folder and the environment of the page's program, migrated with the page's own commands. */
async function setUp() {
  const { url: ownerUrl } = await freshDatabase({ state: 'empty', toleratesOpenConnections: true });
  const role = await freshRole(ownerUrl);
  const named = (words: string) => words.replaceAll('app_user', role.name);
  const folder = consumerFolder(files);
  const args = named(migration).trim().replace('"$OWNER_URL"', ownerUrl).split(' ').slice(2);
  expect(await runNode(folder, [resolve('adapters/cli/main.ts'), ...args])).toMatchObject({ code: 0 });
  await withClient(ownerUrl, (client) => client.query(named(files['tickets.sql'] as string)));
  const shop = await startShop();
  return { folder, shop, env: { DATABASE_URL: role.url, SHOP_URL: shop.url } };
}

test('the service of the page “Turnlock in your service” answers, repeats nothing, and goes on after kill -9', async () => {
  const { folder, shop, env } = await setUp();
  let service = await startService(folder, env);

  const first = await sendMessage(service.url, 'T-1', 'm-1', 'I was charged twice for order 42.');
  expect(first.status).toBe(200);
  expect((await first.text()).trim()).toBe(stream.trim());
  const again = await sendMessage(service.url, 'T-1', 'm-1', 'I was charged twice for order 42.');
  expect((await again.text()).trim()).toBe(stream.trim().split('\n\n').at(-1));
  expect((await sendMessage(service.url, 'T-1', 'm-1', 'Something else.')).status).toBe(409);
  expect([shop.orders, shop.refunds.length]).toEqual([['42'], 1]);
  expect((await getTicket(service.url, 'T-1', ANA)).history.map(({ role }) => role)).toEqual(
    ['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant'], // one message, though it came three times
  );

  // Killed while something is looked up that may be looked up again.
  shop.silentOn = 'order';
  await sendMessage(service.url, 'T-2', 'm-1', 'Please refund order 43.');
  await waitFor(() => shop.orders.includes('43'), { for: 'the order to be looked up' });
  await service.kill('SIGKILL');
  shop.silentOn = null;
  service = await startService(folder, env);
  const recovered = await ticketIn('IDLE', service.url, 'T-2');
  expect(recovered.history.at(-1)).toMatchObject({ role: 'assistant', content: 'The shop says: {"refundId":"R-43"}' });
  expect([shop.orders, shop.refunds.length]).toEqual([['42', '43', '43'], 2]);

  // Killed while money is on its way: the shop has the request, and nobody knows.
  shop.silentOn = 'refund';
  await sendMessage(service.url, 'T-3', 'm-1', 'Please refund order 44.');
  await waitFor(() => shop.refunds.length === 3, { for: 'the refund to be asked for' });
  await service.kill('SIGKILL');
  shop.silentOn = null;
  service = await startService(folder, env);
  const { awaiting } = await ticketIn('AWAITING_INPUT', service.url, 'T-3');
  expect(awaiting).toMatchObject([{ toolName: 'refund', idempotencyKey: shop.refunds[2] }]);
  const report = await runNode(folder, ['report.ts', 'acme'], env);
  expect(report.stdout, report.stderr).toBe('refund {"cents":1999,"orderId":"44"} crash\n');

  const decision = { outcome: 'succeeded', output: { refundId: 'R-44' } };
  const decide = (headers: Record<string, string>) =>
    fetch(`${service.url}/tickets/T-3/calls/${awaiting[0]?.executionId}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(decision),
    });
  expect((await decide(ANA)).status).toBe(403);
  expect((await decide(KIM)).status).toBe(202);
  await ticketIn('IDLE', service.url, 'T-3');
  expect((await decide(KIM)).status).toBe(409); // settled by now
  expect(shop.refunds).toHaveLength(3);

  expect(await service.kill('SIGTERM')).toBe(0);
  expect(service.lines.at(-1)).toMatchObject({ what: 'stopped' });
  expect(service.lines.filter(({ what }) => what === 'warning')).toMatchObject([{ code: 'FSYNC_OFF' }]);
}, 240_000);

test('the service of the page refuses what is not its sender’s to see or to do', async () => {
  const { folder, env } = await setUp();
  const { url } = await startService(folder, env);
  expect((await sendMessage(url, 'T-1', 'm-1', 'Hello')).status).toBe(200);
  const statusFor = async (path: string, init: RequestInit) => (await fetch(`${url}${path}`, init)).status;
  expect(await statusFor('/tickets/T-1', {})).toBe(401);
  expect(await statusFor('/tickets/T-1', { headers: { ...KIM, 'x-tenant': 'other' } })).toBe(404);
  expect(await statusFor('/tickets/T-1', { headers: { ...ANA, 'x-user': 'bob' } })).toBe(404);
  expect(await statusFor('/tickets/T-1/messages', { method: 'POST', headers: ANA, body: '{"text":"x"}' })).toBe(400);
  const keyed = { ...ANA, 'idempotency-key': 'm-2' };
  expect(await statusFor('/tickets/T-1/messages', { method: 'POST', headers: keyed, body: '{' })).toBe(400);
  const wrong = { method: 'POST', headers: KIM, body: '{"outcome":"runAgain"}' };
  expect(await statusFor('/tickets/T-1/calls/not-a-uuid', wrong)).toBe(400);
  expect(await statusFor('/tickets/T-1/calls/00000000-0000-4000-8000-000000000000', wrong)).toBe(404);
}, 120_000);

test('SIGTERM while a tool is out: its result is stored, and the next process goes on from it', async () => {
  const { folder, shop, env } = await setUp();
  const service = await startService(folder, env);
  shop.silentOn = 'refund';
  const streamed = await sendMessage(service.url, 'T-1', 'm-1', 'Please refund order 42.');
  await waitFor(() => shop.refunds.length === 1, { for: 'the refund to be asked for' });
  const ended = service.kill('SIGTERM');
  shop.answerAll();
  expect((await streamed.text()).trim().split('\n\n').at(-1)).toBe('event: elsewhere\ndata: {"code":"RUNTIME_CLOSED"}');
  expect(await ended).toBe(0);
  const { url } = await startService(folder, env);
  await ticketIn('IDLE', url, 'T-1');
  expect(shop.refunds).toHaveLength(1);
}, 120_000);

test('the test of an agent that the page shows passes', async () => {
  const end = await runNode(consumerFolder(files), ['--test', '--test-reporter=tap', 'agent.test.ts']);
  expect(end.stdout, end.stderr).toContain('# pass 1\n');
  expect(end.code).toBe(0);
}, 120_000);

test('a MikroORM that is told to keep away, as the page says, makes a migration without ours; one that is not drops it', async () => {
  const { url } = await freshDatabase();
  const Own = defineEntity({ name: 'Own', tableName: 'own', properties: { id: p.integer().primary() } });
  async function migrationOf(schemaGenerator: { ignoreSchema?: string[] }): Promise<string> {
    const orm = await MikroORM.init({ clientUrl: url, entities: [Own], schemaGenerator });
    const sql = await orm.schema.getUpdateSchemaSQL();
    await orm.close();
    return sql;
  }
  const told = await migrationOf({ ignoreSchema: ['turnlock'] });
  expect(told).toContain('create table "own"');
  expect(told).not.toContain('turnlock');
  expect(await migrationOf({})).toContain('drop table if exists "turnlock"."agent_sessions"');
}, 120_000);
