import { createWebSocketReceiver } from '@statelyai/inspect';
import { expect, test } from 'vitest';
import { serveStately } from '../../../adapters/stately/serve-stately.ts';
import { statelyInspector } from '../../../adapters/stately/stately.ts';
import { isTurnlockError } from '../../../index.ts';
import { sessionMachine } from '../../../machines/session.machine.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { freePort } from '../../support/free-port.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Message {
  type: string;
  sessionId: string;
  definition?: string;
  event?: { type: string };
  snapshot?: { value: string; context?: { runId: string | null } };
}

const PAGE = 'http://127.0.0.1:9/inspector';

/** Everything that a WebSocket hears, until the test ends. */
async function listenTo(url: string): Promise<Message[]> {
  const heard: Message[] = [];
  const socket = new WebSocket(url);
  atTestEnd(async () => socket.close());
  socket.addEventListener('message', ({ data }) => void heard.push(JSON.parse(String(data)) as Message));
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  return heard;
}

async function relay() {
  const served = await serveStately({ page: PAGE });
  atTestEnd(() => served.close());
  const stately = statelyInspector({ url: served.webSocketUrl });
  atTestEnd(async () => stately.stop());
  return { served, stately };
}

const STATES = ['PLANNING', 'EXECUTING_TOOL', 'PLANNING', 'IDLE'];
const statesOf = (heard: readonly Message[]) =>
  heard.filter(({ type }) => type === '@xstate.snapshot').map(({ snapshot }) => snapshot?.value);

onPglite((database) => {
  const agent = scriptedAgent(eachRun({ toolCalls: [call('look')] }, 'done'), [looseTool('look', () => 'ok')]);

  test('a live session is introduced with the machine’s definition, then each committed transition is an event and a snapshot', async () => {
    const { served, stately } = await relay();
    const heard = await listenTo(served.webSocketUrl);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const stop = new AbortController();
    const shown = stately.session(session, { signal: stop.signal });
    const { runId } = await session.send('go');
    await waitFor(() => statesOf(heard).length >= 4, { for: 'four snapshots' });
    stop.abort();
    await shown;
    expect(heard.map(({ type }) => type).slice(0, 3)).toEqual(['@xstate.actor', '@xstate.event', '@xstate.snapshot']);
    expect(heard.every(({ sessionId }) => sessionId === session.sessionId)).toBe(true);
    const definition = JSON.parse(heard[0]?.definition ?? '{}') as { id: string; states: object };
    expect([definition.id, Object.keys(definition.states).sort()]).toEqual([
      sessionMachine.id,
      Object.keys(sessionMachine.config.states ?? {}).sort(),
    ]);
    expect(statesOf(heard)).toEqual(STATES);
    expect(heard.at(-1)?.snapshot?.context).toMatchObject({ runId });
    expect(heard.flatMap(({ type, event }) => (type === '@xstate.event' ? [event?.type] : []))).toEqual([
      'user.messaged',
      'model.calledTools',
      'tool.settled',
      'model.replied',
    ]);
  });

  test('a replay is heard by the package’s own receiver, from the definition on, also by one that comes late', async () => {
    const { served, stately } = await relay();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('go')).result();
    const [early, late]: Message[][] = [[], []];
    const receive = (heard: Message[]) =>
      createWebSocketReceiver({ server: served.webSocketUrl }).subscribe((event) => void heard.push(event as never));
    receive(early!);
    expect(await stately.replay(session)).toBe(4);
    await waitFor(() => statesOf(early!).length >= 4, { for: 'four snapshots' });
    receive(late!);
    await waitFor(() => statesOf(late!).length >= 4, { for: 'the backlog' });
    for (const heard of [early!, late!]) {
      expect(heard[0]).toMatchObject({ type: '@xstate.actor', sessionId: session.sessionId });
      expect(heard[0]?.definition).toContain('"PLANNING"');
      expect(statesOf(heard)).toEqual(STATES);
    }
  });

  test('as the log of a runtime it shows every session of the process, and whoever comes late hears their definitions first', async () => {
    const { served, stately } = await relay();
    const runtime = await openRuntime(database(), [agent], { log: stately.log });
    const sessions = [await openSession(runtime, agent), await openSession(runtime, agent)];
    await Promise.all(sessions.map(async (session) => (await session.send('go')).result()));
    const early = await listenTo(served.webSocketUrl);
    await waitFor(() => statesOf(early).length >= 8, { for: 'eight snapshots' });
    const heard = await listenTo(served.webSocketUrl);
    await waitFor(() => statesOf(heard).length >= 8, { for: 'the backlog' });
    const introduced = heard.slice(0, 2);
    expect(introduced.map(({ type }) => type)).toEqual(['@xstate.actor', '@xstate.actor']);
    expect(introduced.map(({ sessionId }) => sessionId).sort()).toEqual(sessions.map((one) => one.sessionId).sort());
    for (const { sessionId } of sessions) {
      expect(statesOf(heard.filter((message) => message.sessionId === sessionId))).toEqual(STATES);
    }
  });

  test('an inspector that goes away, or never was there, breaks no run; when it is back it hears what comes', async () => {
    const port = await freePort();
    const token = 'a token of the test';
    const url = `ws://127.0.0.1:${port}/?token=${encodeURIComponent(token)}`;
    const stately = statelyInspector({ url, maxBuffered: 3 });
    atTestEnd(async () => stately.stop());
    const runtime = await openRuntime(database(), [agent], { log: stately.log });
    const session = await openSession(runtime, agent);
    expect(await (await session.send('nobody there')).result()).toMatchObject({ state: 'IDLE' });
    const first = await serveStately({ page: PAGE, port, token });
    const tell = async (states: () => number, count: number) =>
      waitFor(
        async () => {
          expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE' });
          return states() >= count;
        },
        { for: 'the inspector to hear', everyMs: 200 },
      );
    const heard = await listenTo(first.webSocketUrl);
    await tell(() => statesOf(heard).length, 1);
    await first.close();
    expect(await (await session.send('gone')).result()).toMatchObject({ state: 'IDLE' });
    const second = await serveStately({ page: PAGE, port, token });
    atTestEnd(() => second.close());
    const again = await listenTo(second.webSocketUrl);
    await tell(() => statesOf(again).length, 1);
    expect(statesOf(again).every((value) => STATES.includes(String(value)))).toBe(true);
  });
});

test('the relay lets in who has the token, by a loopback name, and no page of another origin', async () => {
  const { served } = await relay();
  const { port, searchParams } = new URL(served.url);
  expect(new URL(served.url).hostname).toBe('127.0.0.1');
  const page = await fetch(served.url);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-security-policy')).toContain(`frame-src ${new URL(PAGE).origin}`);
  const without = `http://127.0.0.1:${port}/`;
  const statuses = await Promise.all([
    fetch(without),
    fetch(`${without}?token=${'x'.repeat(36)}`),
    fetch(served.url, { headers: { origin: 'https://elsewhere.example' } }),
    fetch(served.url, { method: 'POST' }),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403, 405]);
  await expect(listenTo(`ws://127.0.0.1:${port}/`)).rejects.toBeDefined();
  expect((await listenTo(`ws://localhost:${port}/?token=${searchParams.get('token')}`)).length).toBe(0);
});

test.each([
  ['a URL of no WebSocket', () => statelyInspector({ url: 'http://127.0.0.1' })],
  ['a buffer of nothing', () => statelyInspector({ maxBuffered: 0 })],
  ['a page that is a script', () => serveStately({ page: 'javascript:alert(1)' })],
  ['a token that can be guessed', () => serveStately({ page: PAGE, token: 'short' })],
])('%s is refused', async (_what, attempt) => {
  const refusal = await (async () => attempt())().catch((error: unknown) => error);
  expect(isTurnlockError(refusal, 'OPTIONS_INVALID')).toBe(true);
});
