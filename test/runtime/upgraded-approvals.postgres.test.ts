import { expect, test } from 'vitest';
import { z } from 'zod';
import type { InputSchema } from '../../adapters/tools/tool.contract.ts';
import { allow, defineTool, type Policy, requireApproval, versioned } from '../../index.ts';
import { paramsDigest } from '../../persistence/keys/params-digest.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun } from '../support/runtime-script.ts';

const V1 = z.object({ order: z.number() });
const V2 = z.object({ orderId: z.string() });
const raised = versioned(V1).to(V2, ({ order }) => ({ orderId: `A-${order}` }));
const NEW = { orderId: 'A-7' };

const answers = eachRun({ toolCalls: [call('pay', { order: 7 })] }, 'paid');

onPostgres((database) => {
  const paying = (inputSchema: InputSchema, seen: unknown[], more: { keepsApproval?: boolean; policy?: Policy } = {}) =>
    defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema,
      policy: () => requireApproval(),
      ...more,
      execute: (params, { idempotencyKey }) => void seen.push([params, idempotencyKey]),
    });

  /** A call of version 1 waits for approval; what the next build makes of it. */
  async function asked(more: Parameters<typeof paying>[2] = {}) {
    const agent = scriptedAgent(answers, [paying(V1, [])]);
    const first = await openRuntime(database(), [agent]);
    const session = await openSession(first, agent);
    const { awaiting } = await (await session.send('go')).result();
    await first.close();
    const seen: unknown[] = [];
    const runtime = await openRuntime(database(), [scriptedAgent(answers, [paying(raised, seen, more)], agent.name)]);
    return { runtime, call: awaiting[0]!, seen, here: await runtime.session(session) };
  }

  test('C69 an approval is for the params that were seen: where an upgrade changed them a person is asked about the new ones', async () => {
    const { runtime, call: old, seen, here } = await asked();
    expect(old).toMatchObject({ params: { order: 7 }, digest: paramsDigest({ order: 7 }) });
    const again = await (await here.approve(old.executionId, { by: 'ann', digest: old.digest })).result();
    expect(again).toMatchObject({ state: 'AWAITING_INPUT' });
    expect(again.awaiting).toMatchObject([
      { reason: 'approval', params: NEW, digest: paramsDigest(NEW), problem: null },
    ]);
    expect(seen).toEqual([]);
    const [listed] = await runtime.awaiting({ tenantId: 'tenant', sessionId: here.sessionId });
    expect(listed).toMatchObject({ params: NEW, digest: paramsDigest(NEW), round: 2 });
    await expect(here.approve(old.executionId, { by: 'bob', digest: old.digest })).rejects.toMatchObject({
      code: 'APPROVAL_STALE',
    });
    const run = await here.approve(old.executionId, { by: 'bob', digest: paramsDigest(NEW) });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'paid' });
    expect(seen).toEqual([[NEW, old.idempotencyKey]]);
  });

  test.each<[string, Policy]>([
    ['today’s policy asks too', () => requireApproval()],
    ['today’s policy asks nobody', () => allow()],
  ])('C69 nobody is asked again where the tool keeps its approvals and %s', async (_, policy) => {
    const { call: old, seen, here } = await asked({ keepsApproval: true, policy });
    const run = await here.approve(old.executionId, { by: 'ann', digest: old.digest });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'paid' });
    expect(seen).toEqual([[NEW, old.idempotencyKey]]);
  });

  test('C69 params that a person puts in place are of today’s version, and run as they are', async () => {
    const { call: old, seen, here } = await asked();
    const params = { orderId: 'B-8' };
    const run = await here.approve(old.executionId, { by: 'ann', digest: old.digest, params });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'paid' });
    expect(seen).toMatchObject([[params, expect.not.stringMatching(old.idempotencyKey)]]);
  });
});
