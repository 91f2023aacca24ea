import { expect, test } from 'vitest';
import { postgres } from '../../adapters/databases/postgres.ts';
import { FaultPlan } from '../../testing/faults/fault-plan.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../support/runtime-script.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';

/** Whoever holds a lease gives up what it commits soon, and soon knows that nobody answers. */
const LIMITS = { leaseMs: 1_000, connectTimeoutMs: 400, lockTimeoutMs: 400, statementTimeoutMs: 400 };

onPostgres((database) => {
  /** A call that must not be repeated is out, and its worker's way to the database ends; then the tool returns. */
  async function cutOff({ tries: atLeast }: { tries: number }) {
    const acts: unknown[] = [];
    const begun = gate();
    const returns = gate();
    const act = looseTool(
      'act',
      async (params) => {
        acts.push(params);
        begun.open();
        await returns.opened;
        return { booked: 42 };
      },
      { effect: 'nonRepeatable' },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('act')] }, 'done'), [act]);
    const proxy = await startTcpProxy(database().url);
    const environment = new FaultPlan();
    const codes: string[] = [];
    const runtime = await openRuntime(database(), [agent], {
      adapter: postgres({ connectionString: proxy.through(database().url), max: 4 }),
      environment,
      limits: LIMITS,
      onWarning: ({ code }) => codes.push(code),
    });
    const session = await openSession(runtime, agent);
    const run = await session.send('act');
    await begun.opened;
    proxy.freeze();
    proxy.reset();
    returns.open();
    const ended = run.result().catch(() => null);
    const tries = () => environment.passages.filter(({ point }) => point === 'beforeEvidence').length;
    await waitFor(() => tries() >= atLeast, { for: 'the tries to keep the result' });
    return { agent, acts, proxy, runtime, session, codes, ended };
  }

  const evidence = (sessionId: string) =>
    database().query('SELECT outcome, output FROM turnlock.agent_tool_evidence WHERE session_id = $1', [sessionId]);

  test('C14 the database is away for longer than the lease: what the tool returned is kept once it is back, and ends the question', async () => {
    const { agent, acts, proxy, runtime, session, codes } = await cutOff({ tries: 2 });
    // Another worker has found the session meanwhile, and knows nothing of the result.
    await database().moveClock(LONG_MS);
    const elsewhere = await openRuntime(database(), [agent]);
    await elsewhere.recover();
    const there = await elsewhere.session(session);
    expect(await there.status()).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ reason: 'unknown' }] });
    proxy.thaw();
    await waitFor(async () => (await there.status()).state === 'IDLE', { for: 'the session to go on from the result' });
    expect(await evidence(session.sessionId)).toEqual([{ outcome: 'succeeded', output: { booked: 42 } }]);
    expect((await there.history()).map(({ content }) => content)).toContain('{"booked":42}');
    expect([acts, codes.includes('EVIDENCE_LOST')]).toEqual([[{}], false]);
    await runtime.close();
  });

  test('a result that is still not kept when the runtime closes is lost, and somebody is warned', async () => {
    const { runtime, session, codes, ended } = await cutOff({ tries: 1 });
    await runtime.close();
    await ended;
    expect(codes.filter((code) => code === 'EVIDENCE_LOST')).toHaveLength(1);
    expect(await evidence(session.sessionId)).toEqual([]);
  });
});
