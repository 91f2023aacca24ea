import { readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ofKind } from '../../../../adapters/cli/demo/ledger.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { ledgerOf, refundIsBooked } from './ledger-of.ts';
import { startChat } from './start-chat.ts';

test('kill -9 in the middle of a refund: the next start goes on, and the world saw one refund', async () => {
  const folder = await temporaryFolder('turnlock-chat-');
  const first = startChat(folder, []);
  first.say('hello');
  await first.shows(/I can look up an order/);
  first.say('Order 42 arrived broken');
  await refundIsBooked(folder);
  first.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  const second = startChat(folder, []);
  second.say('what about order 42?');
  second.end();
  expect(await second.ended, second.stderr()).toBe(0);
  expect(second.stderr()).toContain('The last run was interrupted');
  expect(second.stderr()).toContain('↻ refund again: attempt 2, with the same key');
  expect(second.stdout()).toBe(
    'Done: 49.00 EUR, refund R-1001. Sorry again for the trouble.\n' +
      'Let me look at order 42.\nOrder 42 is a teapot for 49.00 EUR. It is refunded: R-1001.\n',
  );
  const ledger = await ledgerOf(folder);
  expect(ofKind(ledger, 'refundBooked')).toHaveLength(1);
  expect(new Set(ofKind(ledger, 'refundRequested').map(({ key }) => key)).size).toBe(1);
});

test('each attempt of a model that failed is told with its reason, and a reply without a word as such', async () => {
  const folder = await temporaryFolder('turnlock-chat-');
  const agent = join(folder, 'agent.mjs');
  await writeFile(
    agent,
    `import { defineAgent, TurnlockError } from ${JSON.stringify(pathToFileURL(resolve('index.ts')).href)};
const model = {
  modelId: 'shy',
  async generate({ attempt }) {
    if (attempt === 3) return { text: '' };
    throw new TurnlockError('MODEL_FAILED', { message: 'reason ' + attempt, details: { retryAfterMs: 1 } });
  },
};
export default defineAgent({ name: 'shy', model, instructions: '' });`,
  );
  const chat = startChat(folder, ['--agent', agent]);
  chat.say('hello');
  chat.end();
  expect(await chat.ended, chat.stderr()).toBe(0);
  expect(chat.stderr()).toMatch(
    /no answer; .+\n +MODEL_FAILED: reason 1\.\n.*no answer; .+\n +MODEL_FAILED: reason 2\.\n +the model replied without a word\n/,
  );
});

test('a database that cannot be opened leaves nothing beside it', async () => {
  const folder = await temporaryFolder('turnlock-chat-');
  await writeFile(join(folder, 'data'), 'a letter');
  const chat = startChat(folder, ['--database', 'data']);
  chat.end();
  expect(await chat.ended).not.toBe(0);
  expect(chat.stderr()).toContain('DATA_DIRECTORY_INVALID');
  expect(await readdir(folder)).toEqual(['data']);
});
