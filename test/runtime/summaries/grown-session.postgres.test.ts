import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { seedSession } from '../../../bench/seed-session.ts';
import { readWindow } from '../../../persistence/read-window.ts';
import { openStore } from '../../support/open-store.ts';
import { onPostgres, type RuntimeDatabase } from '../../support/runtime-database.ts';
import { openRuntime } from '../../support/runtime-open.ts';
import { withClient } from '../../support/with-client.ts';
import { sizeOf, whyRefused } from '../context/budget-suite.ts';
import { noter, summariesOf, untilSummarised } from './summary-scene.ts';

/** A session that grew without a budget: runs of four turns each, with one call. */
async function grown({ url }: RuntimeDatabase, agentName: string, runs: number) {
  return await withClient(url, (client) => seedSession(client, { tenantId: 'tenant', agentName, runs }));
}

onPostgres((database) => {
  test('a session that grew without a budget is summarised in steps, each of which has room; then one summary tells of all but its end', async () => {
    const { agent, requests, summaryRequests } = noter();
    const { sessionId } = await grown(database(), agent.name, 60);
    const runtime = await openRuntime(database(), [agent]);
    const session = await runtime.session({ tenantId: 'tenant', sessionId });
    expect(await (await session.send('and now?')).result()).toMatchObject({ state: 'IDLE' });
    const rows = await untilSummarised(database(), sessionId, 2);
    expect(rows.length).toBeGreaterThan(2);
    expect(rows.filter((row) => row.is_live)).toEqual([rows.at(-1)]);
    expect(rows.at(-1)?.covers_to_turn).toBeGreaterThan(200);
    await (await session.send('go on')).result();
    for (const request of [...requests, ...summaryRequests]) {
      expect(sizeOf(request)).toBeLessThanOrEqual(600);
      expect(whyRefused(request)).toBeNull();
    }
    expect(requests.at(-1)?.turns[0]?.turnIndex).toBe((rows.at(-1)?.covers_to_turn ?? 0) + 1);
    expect(await summariesOf(database(), sessionId)).toEqual(rows);
  });

  test('of a long session only the end is read: a bound of bytes, the present run whole, from a message on', async () => {
    const key = await grown(database(), 'reader', 100);
    const store = await openStore(database());
    const read = (reach: { after: number; maxBytes: number }, runId = randomUUID()) =>
      readWindow(store, { ...key, runId }, async () => reach, 1_000);
    const end = await read({ after: -1, maxBytes: 2_000 });
    expect(end.at(-1)?.turnIndex).toBe(399);
    expect(end[0]?.role).toBe('user');
    expect(end.length).toBeLessThan(60);
    expect(end.length).toBeGreaterThan(4);
    expect((await read({ after: 391, maxBytes: 1_000_000 })).map(({ turnIndex }) => turnIndex)).toEqual([
      392, 393, 394, 395, 396, 397, 398, 399,
    ]);
    // Turn 393 is an answer with a call: the message of its run opens what is read.
    expect((await read({ after: 392, maxBytes: 1_000_000 })).map(({ turnIndex }) => turnIndex)).toEqual([
      392, 393, 394, 395, 396, 397, 398, 399,
    ]);
    const [last] = await database().query(
      'SELECT run_id FROM turnlock.agent_turns WHERE session_id = $1 AND turn_index = 399',
      [key.sessionId],
    );
    const run = await read({ after: 399, maxBytes: 0 }, last.run_id);
    expect(run.map(({ turnIndex }) => turnIndex)).toEqual([396, 397, 398, 399]);
    expect(run.every(({ runId }) => runId === last.run_id)).toBe(true);
  });
});
