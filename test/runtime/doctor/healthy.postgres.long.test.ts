import { expect, test } from 'vitest';
import type { DoctorFinding } from '../../../index.ts';
import { requireApproval } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';

onPostgres((database) => {
  const inSessions = (findings: readonly DoctorFinding[]) => findings.filter(({ sessionId }) => sessionId !== null);

  test('beside running workers nothing is found: a look never sees half a commit', async () => {
    const step = (name: string) => looseTool(name, () => ({ name }), { effect: 'idempotent' });
    const pay = looseTool('pay', () => 'paid', { policy: () => requireApproval(), effect: 'nonRepeatable' });
    const script = eachRun(
      { toolCalls: [call('one'), call('two'), call('three')] },
      { toolCalls: [call('pay', { n: 1 })] },
      { toolCalls: [call('two', { again: true })] },
      'done',
    );
    const agent = scriptedAgent(script, [step('one'), step('two'), step('three'), pay]);
    const front = await openRuntime(database(), [agent], { drive: false });
    const workers = [await openRuntime(database(), [agent]), await openRuntime(database(), [agent])];
    for (const worker of workers) await worker.start();
    const tenants = ['a', 'b', 'c'].map((name) => `${name}-${agent.name}`);
    const sessions = await Promise.all(
      Array.from({ length: 24 }, (_, n) => openSession(front, agent, { tenantId: tenants[n % 3]! })),
    );
    let isOver = false;
    const talks = sessions.map(async (session, n) => {
      const run = await session.send(`go ${n}`);
      if (n % 3 === 0) await session.send(`interrupted ${n}`, { whenBusy: n % 2 === 0 ? 'interrupt' : 'enqueue' });
      const { awaiting } = await run.result();
      for (const { executionId } of awaiting) {
        if (n % 4 === 0) await session.cancel();
        else await (await session.approve(executionId, { by: 'ann' })).result();
      }
    });
    const traffic = Promise.all(talks).finally(() => {
      isOver = true;
    });
    const found: DoctorFinding[] = [];
    let looks = 0;
    for (; !isOver || looks < 3; looks += 1) {
      const report = await front.doctor(
        looks % 2 === 0 ? { all: true, pageSize: 5 } : { tenantId: tenants[looks % 3]! },
      );
      found.push(...inSessions(report.findings));
    }
    await traffic;
    expect(found).toEqual([]);
    // What was erased, and what was copied, has nothing wrong either.
    await front.eraseUser({ tenantId: tenants[1]!, userId: 'user', by: 'ann', cancelRuns: true });
    await sessions[2]!.fork();
    const { sessions: seen, findings } = await front.doctor({ all: true });
    expect(inSessions(findings)).toEqual([]);
    expect(seen).toBe(25);
  });
});
