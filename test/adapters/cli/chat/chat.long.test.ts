import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { ofKind } from '../../../../adapters/cli/demo/ledger.ts';
import { PROVIDERS } from '../../../../adapters/cli/models/providers.ts';
import { freshDatabase } from '../../../support/fresh-database.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { callItem, messageItem, responsesReply } from '../../models/ai-sdk/openai-wire.ts';
import { sseServer } from '../../models/ai-sdk/sse-server.ts';
import { runTurnlock } from '../run-turnlock.ts';
import { ledgerOf, refundIsBooked } from './ledger-of.ts';
import { startChat } from './start-chat.ts';

let url = '';
let tenants = 0;

beforeAll(async () => {
  ({ url } = await freshDatabase({ toleratesOpenConnections: true }));
});

/** A folder and a tenant of its own; on a server, which is open sooner than an embedded database. */
async function onServer() {
  const folder = await temporaryFolder('turnlock-chat-');
  tenants += 1;
  const tenant = `tenant-${tenants}`;
  const chat = (args: readonly string[], env: Record<string, string> = {}) =>
    startChat(folder, ['--tenant', tenant, ...args], { TURNLOCK_DATABASE_URL: url, ...env });
  return { folder, chat, tenant };
}

test('a refund that may not be repeated is asked about: its commands are printed, and nothing more is sent', async () => {
  const { folder, chat: start } = await onServer();
  const first = start(['--name', 'careful-support']);
  first.say('Order 42 arrived broken');
  await refundIsBooked(folder);
  first.kill('SIGKILL');
  await first.ended;
  const second = start(['--name', 'careful-support']);
  second.say('and?');
  second.end();
  expect(await second.ended).toBe(4);
  const execution = /turnlock settle (\S+) --run-again .*--database /.exec(second.stderr())?.[1];
  expect(execution).toBeDefined();
  expect(second.stderr()).toContain('SESSION_BUSY');
  const third = start(['--name', 'careful-support']);
  third.say('/cancel');
  third.say('order 5');
  third.end();
  expect(await third.ended, third.stderr()).toBe(0);
  expect(third.stderr()).toContain('The run is closed; what is not known stays unknown.');
  expect(third.stdout()).toContain('Order 5 is a vase');
  expect(ofKind(await ledgerOf(folder), 'refundRequested')).toHaveLength(1);
});

test('a signal in the middle of a run cancels nothing: what is out comes to its end, and the next start goes on', async () => {
  const { folder, chat: start } = await onServer();
  const first = start([]);
  first.say('Order 42 arrived broken');
  await refundIsBooked(folder);
  first.kill('SIGINT');
  expect(await first.ended).toBe(130);
  expect(first.stderr()).toContain('Nothing is lost: the next start goes on from the last commit.');
  const second = start([]);
  second.end();
  expect(await second.ended).toBe(0);
  expect(second.stdout()).toBe('Done: 49.00 EUR, refund R-1001. Sorry again for the trouble.\n');
  expect(ofKind(await ledgerOf(folder), 'refundRequested')).toHaveLength(1);
});

test('a model of a provider, over its wire: it is streamed, its calls act, and a failed run is begun again', async () => {
  const { chat: start } = await onServer();
  const server = await sseServer(
    responsesReply(callItem('fc_1', 'call_1', 'lookUpOrder', '{"orderId":"7"}')),
    responsesReply(messageItem('msg_1', 'Six \u001b[31mglasses.')),
    {
      status: 401,
      json: { error: { message: 'Incorrect key.', type: 'error', param: null, code: 'invalid_api_key' } },
    },
    responsesReply(messageItem('msg_2', 'Better now.')),
  );
  const env = { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `${server.url}/v1` };
  const chat = start([], env);
  chat.say('What is order 7?');
  await chat.shows(/glasses/);
  chat.say('And 8?');
  await chat.shows(/MODEL_FAILED/);
  chat.say('/retry');
  chat.end();
  expect(await chat.ended, chat.stderr()).toBe(0);
  expect(chat.stdout()).toBe('Six \\u001b[31mglasses.\nBetter now.\n');
  expect(chat.stderr()).toContain(`answered by openai/${PROVIDERS.openai.modelId}`);
  expect(chat.stderr()).toContain('✓ lookUpOrder');
  expect(server.requests.map(({ body }) => [body.model, body.stream])).toEqual(
    Array.from({ length: 4 }, () => [PROVIDERS.openai.modelId, true]),
  );
  expect(server.requests[0]?.body.tools).toHaveLength(4);
});

test('an agent of a module, in a conversation of its own id; two conversations are apart', async () => {
  const { folder, chat: start } = await onServer();
  const from = pathToFileURL(resolve('test/adapters/cli/support-agent.ts')).href;
  const agents = `import { supportAgent } from ${JSON.stringify(from)};
    export const one = { ...supportAgent(), name: 'desk' };
    export const more = [{ ...one, name: 'other' }];`;
  await writeFile(join(folder, 'agents.mjs'), agents);
  const chat = start(['--agent', 'agents.mjs', '--name', 'desk', '--session', 'case-7', '--json']);
  chat.say('//go');
  chat.say('/new');
  chat.end();
  expect(await chat.ended, chat.stderr()).toBe(0);
  const lines = chat
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ type: 'session', agent: 'desk', externalId: 'case-7' });
  expect(lines.at(-1)).toMatchObject({ type: 'session', externalId: 'chat/desk/user/1', version: 0 });
  expect(lines.at(-2)).toMatchObject({ type: 'result', state: 'IDLE', reply: 'The tool said {"refunded":true}' });
  const transitions = lines.filter(({ type }) => type === 'transition');
  expect(transitions[0].turns).toMatchObject([{ role: 'user', content: '/go', turnIndex: 0 }]);
  const { code, stderr } = await runTurnlock(folder, ['chat', '--agent', 'agents.mjs', '--json']);
  expect([code, JSON.parse(stderr).error]).toEqual([2, expect.objectContaining({ code: 'CONFIG_INVALID' })]);
});

test('at a terminal: a prompt, a reply under a name, a status, and an end by Ctrl-D', async () => {
  const { folder, tenant } = await onServer();
  const line = `${process.execPath} ${resolve('adapters/cli/main.ts')} chat --tenant ${tenant}`;
  const env = { TURNLOCK_DATABASE_URL: url, TERM: 'xterm', NO_COLOR: '1' };
  const chat = startChat(folder, ['-qec', line, join(folder, 'typescript')], env, ['script']);
  await chat.shows(/you › /);
  chat.type('order 5\r');
  await chat.shows(/support › Order 5 is a vase for 74.25 EUR\. Shall I refund it\?\r\n[\s\S]*you › /);
  chat.type('/status\r');
  await chat.shows(/external id {2}chat\/support\/user\/1[\s\S]*you › /);
  chat.type('\u0004');
  expect(await chat.ended).toBe(0);
  expect(chat.stdout()).toContain('The conversation is kept: start again to go on.');
});
