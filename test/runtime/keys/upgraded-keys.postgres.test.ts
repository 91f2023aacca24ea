import { expect, test } from 'vitest';
import { z } from 'zod';
import type { InputSchema } from '../../../adapters/tools/tool.contract.ts';
import { allow, defineTool, type Policy, requireApproval, versioned } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun } from '../../support/runtime-script.ts';

const V1 = z.object({ order: z.number() });
const V2 = z.object({ orderId: z.string() });
const raised = versioned(V1).to(V2, ({ order }) => ({ orderId: `A-${order}` }));

type OnceRule = NonNullable<Parameters<typeof defineTool>[0]['once']>;

onPostgres((database) => {
  const paying = (inputSchema: InputSchema, acts: unknown[], policy: Policy, once?: OnceRule) =>
    defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema,
      keepsApproval: true,
      policy,
      ...(once === undefined ? {} : { once }),
      execute: (params) => void acts.push(params),
    });

  /** A call of version 1 waits for approval, and the build of version 2 comes. */
  async function deploy(once?: OnceRule) {
    const pay = { toolCalls: [call('pay', { order: 42 })] };
    const acts: unknown[] = [];
    const agent = scriptedAgent(eachRun(pay), [paying(V1, acts, () => requireApproval(), once)]);
    const first = await openRuntime(database(), [agent]);
    const parked = await openSession(first, agent, { tenantId: `tenant-${agent.name}` });
    const { awaiting } = await (await parked.send('go')).result();
    await first.close();
    const again = { toolCalls: [call('pay', { orderId: 'A-42' })] };
    const newer = scriptedAgent(
      (request) => eachRun(...(request.turns[0]!.text === 'go' ? [pay, again] : [again]), 'done')(request),
      [paying(raised, acts, () => allow(), once)],
      agent.name,
    );
    const runtime = await openRuntime(database(), [newer]);
    const session = await runtime.session(parked);
    return { acts, runtime, agent, session, executionId: awaiting[0]!.executionId };
  }

  test('C03 a call that was upgraded before it ran is known again by its new params', async () => {
    const { acts, session, executionId } = await deploy();
    const { state, awaiting } = await (await session.approve(executionId, { by: 'ann' })).result();
    expect(state).toBe('AWAITING_INPUT');
    expect(awaiting).toMatchObject([{ params: { orderId: 'A-42' }, reason: 'approval' }]);
    expect(acts).toEqual([{ orderId: 'A-42' }]);
  });

  /** The key of version 1 is the number, that of version 2 the id. */
  const once: OnceRule = {
    per: 'tenant',
    key: (params) => {
      const { order, orderId } = params as { order?: number; orderId?: string };
      return orderId ?? `${order}`;
    },
  };

  test('C45 a call that waited while its tool became a later version takes the business key of today: no second act', async () => {
    const { acts, runtime, agent, session, executionId } = await deploy(once);
    const other = await openSession(runtime, agent, { tenantId: session.tenantId });
    await (await other.send('now')).result();
    expect(acts).toEqual([{ orderId: 'A-42' }]);
    await (await session.approve(executionId, { by: 'ann' })).result();
    expect(acts).toEqual([{ orderId: 'A-42' }]);
    const told = (await session.history()).find(({ role }) => role === 'tool');
    expect(told!.content).toContain('A call with the same business key has succeeded before');
  });

  test('C45 … or it is first, and later calls are answered; its former key is free', async () => {
    const { acts, runtime, agent, session, executionId } = await deploy(once);
    await (await session.approve(executionId, { by: 'ann' })).result();
    const other = await openSession(runtime, agent, { tenantId: session.tenantId });
    await (await other.send('now')).result();
    expect(acts).toEqual([{ orderId: 'A-42' }]);
    const claims = await database().query(
      'SELECT state, execution_id FROM turnlock.agent_idempotency_claims WHERE tenant_id = $1 ORDER BY state',
      [session.tenantId],
    );
    expect(claims).toEqual([
      { state: 'free', execution_id: executionId },
      { state: 'succeeded', execution_id: executionId },
    ]);
  });
});
