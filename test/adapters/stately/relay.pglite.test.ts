import { expect, test } from 'vitest';
import { serveStately } from '../../../adapters/stately/serve-stately.ts';
import { type ShownSession, statelyInspector } from '../../../adapters/stately/stately.ts';
import type { LogEntry } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';

const PAGE = 'http://127.0.0.1:9/inspector';

async function relay(options: { port?: number; token?: string } = {}) {
  const served = await serveStately({ page: PAGE, ...options });
  atTestEnd(() => served.close());
  return served;
}

function inspector(url: string) {
  const stately = statelyInspector({ url });
  atTestEnd(async () => stately.stop());
  return stately;
}

/** What a WebSocket hears, from a page of `origin` where there is one. @throws where it is not let in. */
async function listenTo(url: string, origin?: string): Promise<{ type: string; definition?: string }[]> {
  const heard: { type: string }[] = [];
  const headers = origin === undefined ? {} : { headers: { origin } };
  const socket = new WebSocket(url, headers as never);
  atTestEnd(async () => socket.close());
  socket.addEventListener('message', ({ data }) => void heard.push(JSON.parse(String(data)) as { type: string }));
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('not let in')));
  });
  return heard;
}

/** A session of so many transitions, none of whose events is kept any more. */
function sessionOf(count: number): ShownSession {
  const transition = (sequence: number) => ({
    sequence,
    from: 'IDLE',
    to: 'PLANNING',
    type: 'user.messaged',
    event: null,
  });
  const transitions = async ({ after = 0, limit = 0 }) =>
    Array.from({ length: Math.min(limit, count - after) }, (_, place) => transition(after + place + 1));
  return { sessionId: 'session', transitions } as unknown as ShownSession;
}

const commit = {
  event: 'commit.done',
  attributes: { sessionId: 's', from: 'IDLE', to: 'PLANNING', event: 'user.messaged' },
};

test('a replay of 2,000 transitions is heard from the definition on to its end', async () => {
  const { webSocketUrl } = await relay();
  const heard = await listenTo(webSocketUrl);
  expect(await inspector(webSocketUrl).replay(sessionOf(2_000))).toBe(2_000);
  await waitFor(() => heard.length === 4_001, { for: 'all messages' });
  expect(heard[0]?.definition).toContain('"PLANNING"');
});

test('a relay that was started again hears the definition of a session that the one before knew', async () => {
  const options = { port: await freePort(), token: 'a token of the test' };
  const first = await relay(options);
  const stately = inspector(first.webSocketUrl);
  const tell = () => stately.log(commit as unknown as LogEntry);
  const before = await listenTo(first.webSocketUrl);
  tell();
  await waitFor(() => before.length >= 3, { for: 'the first messages' });
  await first.close();
  const after = await listenTo((await relay(options)).webSocketUrl);
  await waitFor(
    () => {
      tell();
      return after.length >= 3;
    },
    { for: 'the messages that follow', everyMs: 100 },
  );
  expect(after[0]).toMatchObject({ type: '@xstate.actor', definition: expect.stringContaining('"PLANNING"') });
});

test('the page that was named may open the WebSocket with the token; another page, and a page without it, may not', async () => {
  const { webSocketUrl } = await relay();
  const { origin } = new URL(PAGE);
  expect(await listenTo(webSocketUrl, origin)).toEqual([]);
  await expect(listenTo(webSocketUrl, 'http://127.0.0.1:10')).rejects.toThrow('not let in');
  await expect(listenTo(webSocketUrl, 'null')).rejects.toThrow('not let in');
  await expect(listenTo(webSocketUrl.replace(/token=.*/, 'token=x'), origin)).rejects.toThrow('not let in');
});
