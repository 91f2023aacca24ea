import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { type Agent, defineAgent, type ModelRequest, type Session, TurnlockError } from '../../index.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, gate, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';
import { echoAgent, enqueue, typesOf, userTexts } from './inbox-scene.ts';

/** A back-off that outlasts every test. */
const LONG_WAIT_MS = 3_600_000;

/** What is under way when the message comes, and when it is. */
interface Scene {
  agent: Agent;
  /** Resolves once it is under way. */
  isUnderWay(session: Session): Promise<unknown>;
  /** The signals that what is under way was given. */
  signals: AbortSignal[];
}

function heard({ turns }: ModelRequest): string {
  return `heard ${turns.findLast(({ role }) => role === 'user')!.text}`;
}

function duringModelCall(): Scene {
  const begun = gate();
  const signals: AbortSignal[] = [];
  const model = {
    modelId: 'hangs',
    async generate(request: ModelRequest, { signal }: { signal: AbortSignal }) {
      if (heard(request) !== 'heard wait') return { text: heard(request) };
      signals.push(signal);
      begun.open();
      return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  const agent = defineAgent({ name: `hangs-${randomUUID().slice(0, 8)}`, model, instructions: 'Do it.' });
  return { agent, isUnderWay: () => begun.opened, signals };
}

function duringTool(): Scene {
  const { agent, begun, signals } = echoAgent({ effect: 'nonRepeatable' });
  return { agent, isUnderWay: () => begun, signals };
}

function duringToolBackOff(): Scene {
  const fails = looseTool(
    'fails',
    () => {
      throw new Error('not now');
    },
    { retry: { attempts: 3, backoff: { initialMs: LONG_WAIT_MS, maxMs: LONG_WAIT_MS } } },
  );
  const agent = scriptedAgent(
    (request) => (heard(request) === 'heard wait' ? { toolCalls: [call('fails')] } : heard(request)),
    [fails],
  );
  return { agent, isUnderWay: isThere('tool.attemptFailed'), signals: [] };
}

function duringModelBackOff(): Scene {
  const agent = scriptedAgent((request) => {
    if (heard(request) !== 'heard wait') return heard(request);
    throw new TurnlockError('MODEL_FAILED', { message: 'not now' });
  });
  return { agent, isUnderWay: isThere('model.attemptFailed'), signals: [] };
}

function isThere(wanted: string): Scene['isUnderWay'] {
  return (session) => waitFor(async () => (await typesOf(session)).some((type) => type === wanted), { for: wanted });
}

onPostgres((database) => {
  async function inTransaction(session: Session): Promise<void> {
    const client = new pg.Client({ connectionString: database().url });
    await client.connect();
    atTestEnd(() => client.end());
    await client.query('BEGIN');
    await session.send('urgent', { transaction: client, whenBusy: 'interrupt', messageId: 'u1' });
    await client.query('COMMIT');
  }

  const bySql = (session: Session) => enqueue(database(), session, 'u1', 'urgent', 'interrupt');

  test.each<[string, string, () => Scene, (session: Session) => Promise<unknown>]>([
    ["in a transaction of the caller's", 'a model call', duringModelCall, inTransaction],
    ['by SQL', 'a model call', duringModelCall, bySql],
    ["in a transaction of the caller's", 'a tool', duringTool, inTransaction],
    ['by SQL', 'a tool', duringTool, bySql],
    ["in a transaction of the caller's", 'the back-off of a model call', duringModelBackOff, inTransaction],
    ['by SQL', 'the back-off of a tool', duringToolBackOff, bySql],
  ])('an interruption %s during %s is heard by the heartbeat: the run ends, and the message begins', async (...row) => {
    const [, , scene, send] = row;
    const { agent, isUnderWay, signals } = scene();
    const limits = { heartbeatMs: 50, modelBackoffMs: LONG_WAIT_MS };
    const session = await openSession(await openRuntime(database(), [agent], { limits }), agent);
    const first = await session.send('wait');
    await isUnderWay(session);
    await send(session);
    expect(await first.result()).toMatchObject({ reply: null, error: { code: 'RUN_CANCELLED' } });
    expect(signals.filter(({ aborted }) => !aborted)).toEqual([]);
    const urgent = await session.send('urgent', { messageId: 'u1' });
    expect(urgent.repeated).toBe(true);
    expect(await urgent.result()).toMatchObject({ state: 'IDLE', reply: 'heard urgent', error: null });
    expect(await userTexts(session)).toEqual(['wait', 'urgent']);
  });

  test('behind messages that wait, an interruption is heard first', async () => {
    const { agent, begun } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent], { limits: { heartbeatMs: 50 } }), agent);
    const first = await session.send('wait');
    await begun;
    await database().query('BEGIN');
    await enqueue(database(), session, 'm1', 'one');
    await enqueue(database(), session, 'u1', 'urgent', 'interrupt');
    await database().query('COMMIT');
    expect(await first.result()).toMatchObject({ error: { code: 'RUN_CANCELLED' } });
    const one = await session.send('one', { messageId: 'm1' });
    expect(await one.result()).toMatchObject({ reply: 'heard one' });
    expect(await userTexts(session)).toEqual(['wait', 'urgent', 'one']);
  });

  test('a message that supersedes is noted while a tool is out, and one that only waits is not', async () => {
    const { agent, begun, open, signals } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent], { limits: { heartbeatMs: 50 } }), agent);
    const first = await session.send('wait');
    await begun;
    await enqueue(database(), session, 'm1', 'one');
    await enqueue(database(), session, 'm2', 'two', 'supersede');
    await isThere('message.enqueued')(session);
    expect(await typesOf(session)).toEqual(['user.messaged', 'model.calledTools', 'message.enqueued']);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    open();
    expect(await first.result()).toMatchObject({ reply: 'waited' });
    const two = await session.send('two', { messageId: 'm2' });
    expect(await two.result()).toMatchObject({ reply: 'heard two' });
    expect(await userTexts(session)).toEqual(['wait', 'one', 'two']);
  });

  test('where a listener is there, a worker hears an interruption at once, long before its heartbeat', async () => {
    const { agent, begun } = echoAgent();
    const { url } = database();
    const limits = { leaseMs: 2 * LONG_WAIT_MS, heartbeatMs: LONG_WAIT_MS };
    const runtime = await openRuntime(database(), [agent], {
      limits,
      adapter: postgres({ connectionString: url, max: 4 }, { listen: url }),
    });
    atTestEnd(() => runtime.close());
    const session = await openSession(runtime, agent);
    await runtime.start();
    const first = await session.send('wait');
    await begun;
    await enqueue(database(), session, 'u1', 'urgent', 'interrupt');
    expect(await first.result()).toMatchObject({ error: { code: 'RUN_CANCELLED' } });
    const urgent = await session.send('urgent', { messageId: 'u1' });
    expect(await urgent.result()).toMatchObject({ reply: 'heard urgent' });
  });

  test("a parent's word that it gave the run up is heard by the heartbeat", async () => {
    const { agent, begun, signals } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent], { limits: { heartbeatMs: 50 } }), agent);
    const first = await session.send('wait');
    await begun;
    await database().query(
      `INSERT INTO turnlock.agent_inbox (tenant_id, session_id, kind, run_id, content) VALUES ($1, $2, 'cancel', $3, 'given up')`,
      [session.tenantId, session.sessionId, first.runId],
    );
    expect(await first.result()).toMatchObject({ error: { code: 'RUN_CANCELLED' } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
