import { expect, test } from 'vitest';
import { z } from 'zod';
import type { InputSchema } from '../../../adapters/tools/tool.contract.ts';
import { type Agent, defineTool, requireApproval, type Tool, versioned } from '../../../index.ts';
import { checkAgents } from '../../../runtime/check-agents.ts';
import { type Preflight, preflight } from '../../../runtime/preflight/preflight.ts';
import { openStore } from '../../support/open-store.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun } from '../../support/runtime-script.ts';
import { corrupt } from '../doctor/corruptions.ts';

const V1 = z.object({ order: z.number() });
const V2 = z.object({ orderId: z.string() });
const raised = versioned(V1).to(V2, ({ order }) => ({ orderId: `A-${order}` }));

function pay(inputSchema: InputSchema, keepsApproval = false, more: Pick<AnyTool, 'once'> = {}): Tool {
  const policy = () => requireApproval();
  const rules = { policy, keepsApproval, ...more };
  return defineTool({ name: 'pay', description: 'Pays.', inputSchema, ...rules, execute: () => 'paid' });
}

type AnyTool = Parameters<typeof defineTool>[0];
const keyed: Pick<AnyTool, 'once'> = { once: { per: 'tenant', key: (params) => JSON.stringify(params) } };

onPostgres((database) => {
  /** Two sessions of a tenant of their own wait for approval of a call of version 1; a third one rests, and one is over. */
  async function parked() {
    const script = eachRun({ toolCalls: [call('pay', { order: 7 })] }, 'done');
    const agent = scriptedAgent(script, [pay(V1)]);
    const runtime = await openRuntime(database(), [agent]);
    const tenantId = agent.name;
    const open = () => openSession(runtime, agent, { tenantId });
    const sessions = [await open(), await open()];
    for (const session of sessions) await (await session.send('go')).result();
    await open();
    await (await open()).complete();
    const build = (tools: Tool[], version = 1): Agent => ({ ...scriptedAgent(script, tools, agent.name), version });
    const store = await openStore(database());
    const fly = (agents: Agent[], more: Partial<Preflight> = {}) =>
      preflight(store, { agents: checkAgents(agents), scope: { tenantId }, except: [], pageSize: 1, ...more });
    return { agent, runtime, tenantId, sessions, build, fly };
  }

  test('what is parked is counted by agent, version and tool, and the same build goes on with all of it', async () => {
    const { agent, build, fly } = await parked();
    expect(await fly([build([pay(V1)])])).toEqual({
      sessions: 3,
      parked: [{ agent: agent.name, agentVersion: 1, machineVersion: 1, states: { AWAITING_INPUT: 2, IDLE: 1 } }],
      calls: [{ agent: agent.name, tool: 'pay', version: 1, buildVersion: 1, count: 2 }],
      problems: [],
    });
  });

  const broken = versioned(V1).to(V2, () => {
    throw new Error('no such order');
  });

  test.each([
    ['C69 an upgrade that changes what a person approves', [pay(raised)], 'approvalVoided', 2],
    ['C69 an upgrade that fails', [pay(broken)], 'upgradeFails', 2],
    ['C69 a business key that is another one by then', [pay(raised, true, keyed)], 'keyMoves', 2],
    ['C69 a tool that is gone', [], 'toolMissing', 2],
    ['another schema under the same version', [pay(z.object({ order: z.string() }))], 'schemaChanged', 1],
  ] as const)('%s is found before the deploy', async (_, tools, problem, count) => {
    const { build, fly, agent } = await parked();
    const recorded = () => database().query('SELECT * FROM turnlock.agent_tool_versions ORDER BY 1, 2, 3');
    const before = await recorded();
    const { problems } = await fly([build([...tools])]);
    expect(problems).toMatchObject([{ problem, count, examples: [{ agent: agent.name }, {}].slice(0, count) }]);
    expect(await recorded()).toEqual(before);
  });

  test('an upgrade that keeps its approvals voids none, and what is foretold comes true', async () => {
    const { build, fly, sessions, runtime } = await parked();
    expect((await fly([build([pay(raised, true)])])).problems).toEqual([]);
    const [granted] = sessions;
    const [asked] = (await granted!.status()).awaiting;
    const front = await openRuntime(database(), [build([pay(V1)])], { drive: false });
    await (await front.session(granted!)).approve(asked!.executionId, { by: 'ann' });
    await runtime.close();
    // A grant that nobody used yet is voided as well as one that is still to come.
    expect((await fly([build([pay(raised)])])).problems).toMatchObject([{ problem: 'approvalVoided', count: 2 }]);
    const later = await openRuntime(database(), [build([pay(raised)])]);
    await later.recover();
    const again = await later.session(granted!);
    expect((await again.status()).awaiting).toMatchObject([{ reason: 'approval', params: { orderId: 'A-7' } }]);
  });

  test('sessions of an agent that is gone, or that is newer, are found; those of other services are left out', async () => {
    const { agent, build, fly, sessions } = await parked();
    const other = scriptedAgent('done');
    const gone = await fly([other]);
    expect(gone.problems).toMatchObject([{ problem: 'agentMissing', count: 3 }]);
    expect(gone.problems[0]!.examples[0]).toMatchObject({ tenantId: agent.name, agent: agent.name, version: 1 });
    expect(await fly([other], { except: [agent.name] })).toMatchObject({ sessions: 0, problems: [] });
    await corrupt(
      database(),
      ['UPDATE turnlock.agent_sessions SET agent_version = 2 WHERE session_id = $1'],
      [sessions[0]!.sessionId],
    );
    await corrupt(
      database(),
      [`UPDATE turnlock.agent_sessions SET snapshot = '[]' WHERE session_id = $1`],
      [sessions[1]!.sessionId],
    );
    expect((await fly([build([pay(V1)])])).problems).toMatchObject([
      { problem: 'newer', count: 1, examples: [{ newer: 'agent' }] },
      { problem: 'unreadable', count: 1, examples: [{ sessionId: sessions[1]!.sessionId }] },
    ]);
    const all = await fly([build([pay(V1)], 2)], { scope: 'all' });
    expect(all.sessions).toBeGreaterThan(3);
    expect(all.problems.map(({ problem }) => problem)).not.toContain('newer');
  });
});
