import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Session } from '../../../../index.ts';
import { atTestEnd } from '../../../support/at-test-end.ts';
import { spawnChild } from '../../../support/child.ts';
import { onPostgres } from '../../../support/runtime-database.ts';
import { openRuntime } from '../../../support/runtime-open.ts';
import type { Child } from '../../../support/start-child.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { checkSession } from '../../crash-property/facts-of.ts';
import { allRest } from '../owed.ts';
import { build as firstBuild } from './build-1.ts';
import type { DeployTask } from './deploy.child.ts';
import { ORDERS, type Ordered } from './order-tool.ts';

const SESSIONS = 6;

onPostgres((database) => {
  async function ledgerFile(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'turnlock-deploy-'));
    atTestEnd(() => rm(folder, { recursive: true, force: true }));
    return join(folder, 'ledger');
  }

  const count = async (text: string): Promise<number> =>
    (await database().query(`SELECT count(*)::int AS n ${text}`))[0].n;

  test('C12 C69 a rolling restart of three workers with two builds, while messages flow: each is answered once, and nothing new is driven by the old', async () => {
    const ledger = await ledgerFile();
    const start = async (build: DeployTask['build'], pauseMs?: number): Promise<Child> => {
      const task: DeployTask = { url: database().url, build, ledger, ...(pauseMs === undefined ? {} : { pauseMs }) };
      const worker = spawnChild('test/runtime/worker/deploy/deploy.child.ts', { args: [JSON.stringify(task)] });
      await worker.next('ready', { timeoutMs: 60_000 });
      return worker;
    };
    // What sends is of the old build all the time: it leaves its runs to workers.
    const agent = firstBuild({ act: () => undefined, pause: async () => undefined });
    const front = await openRuntime(database(), [agent], { drive: false });
    const sessions: Session[] = [];
    for (let index = 0; index < SESSIONS; index += 1) {
      sessions.push(await front.createSession({ agent: 'clerk', tenantId: 'tenant', userId: `user ${index}` }));
    }
    const sent = new Map(sessions.map(({ sessionId }) => [sessionId, [] as string[]]));
    let number = 0;
    const sendTo = async (session: Session) => {
      const text = `order ${number++}`;
      await session.send(text, { messageId: text });
      sent.get(session.sessionId)!.push(text);
    };
    const sendToAll = async () => {
      for (const session of sessions) await sendTo(session);
    };
    const acted = (): Ordered[] => {
      const lines = readFileSync(ledger, { encoding: 'utf8', flag: 'a+' }).split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line) as Ordered);
    };
    const more = async (acts: number) => {
      const before = acted().length;
      await waitFor(() => acted().length >= before + acts, {
        for: `${acts} more acts`,
        timeoutMs: 60_000,
        everyMs: 20,
      });
    };

    // One session for certain: an old worker dies in its first act, and its other calls, planned and not begun, are for a new one.
    const [first] = sessions as [Session];
    const slow = await start(1, 60_000);
    await sendTo(first);
    await waitFor(async () => (await count(`FROM turnlock.agent_tool_executions WHERE status = 'RUNNING'`)) === 1, {
      for: 'a call that runs',
      timeoutMs: 60_000,
    });
    await slow.kill();
    const heir = await start(2);
    await allRest(database(), [first], 'IDLE', { timeoutMs: 60_000 });
    expect(await heir.kill('SIGTERM'), heir.output).toMatchObject({ code: 0 });

    const workers = [await start(1), await start(1), await start(1)];
    await sendToAll();
    await more(3);
    for (const [place, old] of workers.entries()) {
      await sendToAll();
      const next = await start(2);
      await sendToAll();
      await more(2);
      // Two are drained, as a deploy does it; one is killed, and what it held is free once its lease has run out.
      if (place < 2) expect(await old.kill('SIGTERM'), old.output).toMatchObject({ code: 0 });
      else await old.kill();
      workers[place] = next;
    }
    await sendToAll();
    await allRest(database(), sessions, 'IDLE', { timeoutMs: 90_000 });
    await waitFor(async () => (await count('FROM turnlock.agent_inbox')) === 0, {
      for: 'an empty inbox',
      timeoutMs: 90_000,
    });
    await allRest(database(), sessions, 'IDLE', { timeoutMs: 90_000 });
    for (const worker of workers) expect(await worker.kill('SIGTERM'), worker.output).toMatchObject({ code: 0 });

    const orders = acted();
    for (const session of sessions) {
      const history = await session.history();
      const texts = (role: string) => history.filter((turn) => turn.role === role).map(({ content }) => content);
      const asked = sent.get(session.sessionId)!;
      expect(texts('user')).toEqual(asked);
      expect(texts('assistant').filter((text) => text !== '')).toEqual(asked.map((text) => `done: ${text}`));
      await checkSession(database(), session);
      // In the outside world: once the new build has acted for a session, the old one never does again.
      const builds = orders.filter(({ sessionId }) => sessionId === session.sessionId).map(({ build }) => build);
      expect(builds).toEqual([...builds].sort());
    }
    const models = await database().query(
      `SELECT session_id, array_agg(agent_version ORDER BY window_to, started_at) AS versions FROM turnlock.agent_model_calls GROUP BY 1`,
    );
    expect(models).toHaveLength(SESSIONS);
    for (const { versions } of models) expect(versions).toEqual([...versions].sort());
    // Every order was made, under one key each, in either form of its params.
    expect(new Set(orders.map(({ key }) => key)).size).toBe(number * ORDERS);
    expect(await count(`FROM turnlock.agent_sessions WHERE agent_version = 2`)).toBe(SESSIONS);
    // Calls that the old build had planned and not begun ran with the new one, upgraded.
    expect(
      await count(`FROM turnlock.agent_tool_executions WHERE tool_version = 1 AND upgraded_version = 2`),
    ).toBeGreaterThanOrEqual(ORDERS - 1);
    expect(await front.sessions({ tenantId: 'tenant', stranded: true })).toHaveLength(SESSIONS);
  }, 300_000);
});
