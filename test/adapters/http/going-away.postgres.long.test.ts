import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { createRuntime } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../../support/embedded-server.ts';
import { scriptedAgent } from '../../support/runtime-open.ts';
import { gate } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { eventsIn, httpScene, type StreamedEvent, USER } from './http-scene.ts';

let database: EmbeddedServer;

beforeAll(async () => {
  database = await startEmbeddedServer();
  atTestEnd(() => database.stop());
});

const headers = { authorization: `Bearer ${USER}`, 'content-type': 'application/json' };
const limits = { sweepMs: 200, leaseMs: 2_000, connectTimeoutMs: 1_000, graceMs: 0 };

/** What a response says, as far as it has come, and how it ends. */
function reading(response: Response) {
  const seen = { text: '', ended: Promise.resolve() };
  seen.ended = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) seen.text += chunk;
  })();
  return seen;
}

const idsOf = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id);

/** A chat, the events of its session, and a request that waits for its run, all in the middle of an answer. */
async function underWay() {
  const { opened, open } = gate();
  const agent = scriptedAgent(async (_, { emit }) => {
    emit({ type: 'text', text: 'One ' });
    await opened;
    return 'One two.';
  });
  const runtime = await createRuntime({
    ...{ database: postgres({ connectionString: database.url, max: 4 }), agents: [agent], migrate: 'auto', limits },
    onWarning: () => undefined,
  });
  atTestEnd(() => runtime.close());
  await runtime.start();
  const scene = httpScene(runtime, { chat: { agent: agent.name } });
  const served = await scene.served();
  const at = (path: string, more: RequestInit = {}) => fetch(`${served.url}${path}`, { headers, ...more });
  const post = (path: string, body: unknown) => at(path, { method: 'POST', body: JSON.stringify(body) });
  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] };
  const id = randomUUID();
  const chat = reading(await post('/chat', { id, messages: [message] }));
  const session = await runtime.session({ tenantId: 'tenant', externalId: id });
  const follow = (lastId = '') =>
    at(`/sessions/${session.sessionId}/events`, { headers: { ...headers, 'last-event-id': lastId } });
  const events = reading(await follow());
  const other = await runtime.createSession({ agent: agent.name, tenantId: 'tenant', userId: 'user' });
  const waiting = post(`/sessions/${other.sessionId}/messages`, { text: 'go' });
  waiting.catch(() => undefined);
  const isUnderWay = async () => chat.text.includes('One ') && events.text.includes('One ') && isSent();
  const isSent = async () => (await other.status()).state === 'PLANNING';
  await waitFor(isUnderWay, { for: 'answers in their middle', timeoutMs: 20_000 });
  return { runtime, ...scene, served, open, at, chat, events, follow, session, other, waiting };
}

describe('whoever watches or waits', () => {
  it('sees each event once over a database that goes away and comes back, and is told that his message was taken', async () => {
    const { errors, open, at, chat, events, follow, session, other, waiting } = await underWay();
    await database.crash();
    open();
    await events.ended;
    await chat.ended;
    const taken = await waiting;
    expect(taken.status).toBe(202);
    expect(await taken.json()).toMatchObject({ sessionId: other.sessionId });
    expect(events.text.endsWith('\n\n')).toBe(true);
    expect(chat.text).toMatch(/DATABASE_UNREACHABLE[^\n]*\n\ndata: \[DONE\]\n\n$/);
    expect((await at(`/sessions/${session.sessionId}`)).status).toBe(503);
    await database.restart();
    const seen = idsOf(events.text);
    const rest: StreamedEvent[] = [];
    for await (const event of eventsIn(await follow(seen.at(-1)))) {
      rest.push(event);
      if (event.data.to === 'IDLE') break;
    }
    const committed = await session.transitions();
    const ids = [...seen, ...rest.flatMap(({ id }) => id ?? [])];
    expect(ids).toEqual(committed.map(({ sequence }) => String(sequence)));
    await waitFor(async () => (await other.status()).state === 'IDLE', { for: 'the other run', timeoutMs: 20_000 });
    expect((await other.history()).filter(({ role }) => role === 'user')).toHaveLength(1);
    expect(new Set(errors.map((error) => (error as { code: string }).code))).toEqual(new Set(['DATABASE_UNREACHABLE']));
  });

  it.each(['server', 'runtime'] as const)('is told so, at a whole event, when the %s closes', async (closes) => {
    const { runtime, served, errors, open, chat, events, waiting, other } = await underWay();
    const closed = closes === 'server' ? served.close() : runtime.close();
    const taken = await waiting;
    expect(taken.status).toBe(202);
    expect(await taken.json()).toMatchObject({ sessionId: other.sessionId });
    await closed;
    await Promise.all([chat.ended, events.ended]);
    expect([chat.text.endsWith('\n\n'), events.text.endsWith('\n\n')]).toEqual([true, true]);
    expect(errors).toEqual([]);
    open();
  });
});
