import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KILL_LIMITS, workerAgent } from '../../runtime/kill/worker-agent.ts';
import type { WorkerProcessTask } from '../../runtime/worker/worker.child.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { spawnChild } from '../../support/child.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime } from '../../support/runtime-open.ts';
import { eventsIn, httpScene, type StreamedEvent } from './http-scene.ts';

onPostgres((database) => {
  test('C02 events are seen each once and in order over a disconnect and a killed worker, by a process that drives nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'turnlock-events-'));
    atTestEnd(() => rm(folder, { recursive: true, force: true }));
    const startWorker = async () => {
      const task: WorkerProcessTask = {
        ...{ url: database().url, concurrency: 4 },
        ledger: join(folder, 'ledger'),
        pauseMs: 500,
      };
      const worker = spawnChild('test/runtime/worker/worker.child.ts', { args: [JSON.stringify(task)] });
      await worker.next('ready');
      return worker;
    };
    const agent = workerAgent({ act: () => undefined, stopAt: async () => undefined });
    const runtime = await openRuntime(database(), [agent], { drive: false, limits: KILL_LIMITS });
    const session = await runtime.createSession({ agent: 'worker', tenantId: 'tenant', userId: 'user' });
    const { url } = await httpScene(runtime).served();
    const path = `${url}/sessions/${session.sessionId}`;
    const authorization = 'Bearer tenant/user';
    const seen: StreamedEvent[] = [];
    /** Reads on from what was seen last, up to a transition of `type`; then the connection is gone. */
    const readUntil = async (type: string) => {
      const lastId = seen.findLast(({ id }) => id !== null)?.id;
      const headers = { authorization, ...(lastId ? { 'last-event-id': lastId } : {}) };
      for await (const event of eventsIn(await fetch(`${path}/events`, { headers }))) {
        if (event.id === null) continue;
        seen.push(event);
        if (event.data.type === type) return;
      }
    };

    const first = await startWorker();
    const accepted = await fetch(`${path}/messages`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', prefer: 'respond-async' },
      body: JSON.stringify({ text: 'note 1, note 2' }),
    });
    expect(accepted.status).toBe(202);
    await readUntil('model.calledTools');
    await first.kill();
    const second = await startWorker();
    await readUntil('worker.tookOver');
    await readUntil('model.replied');
    await second.kill();

    // A worker that was slow may have kept a late result, which is taken after the reply.
    const committed = (await session.transitions()).slice(0, seen.length);
    expect(seen.map(({ id, data }) => [id, data.type])).toEqual(
      committed.map(({ sequence, type }) => [String(sequence), type]),
    );
    expect(seen.at(-1)?.data).toMatchObject({ to: 'IDLE', turns: [{ content: 'did note 1, note 2' }] });
  });
});
