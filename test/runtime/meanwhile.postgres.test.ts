import { expect, test } from 'vitest';
import { systemEnvironment } from '../../environment.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

onPostgres((database) => {
  test.each([
    ['the last one', 1],
    ['one of two', 2],
  ])(
    'a person settles %s that waits for a slot, just before its worker starts it: the run goes on',
    async (_title, queued) => {
      let transactions = Number.NaN;
      let meanwhile: () => Promise<unknown> = async () => undefined;
      const environment = {
        ...systemEnvironment,
        // The first transaction after the tool returned commits its result, the second one starts the next call.
        faultPoint: async (point: string) => {
          if (point !== 'beforeBegin') return;
          transactions += 1;
          if (transactions === 2) await meanwhile();
        },
      };
      const acts: unknown[] = [];
      const tool = looseTool('act', ({ n }) => {
        acts.push(n);
        transactions = Number.isNaN(transactions) ? 0 : transactions;
        return n;
      });
      const calls = Array.from({ length: queued + 1 }, (_, n) => call('act', { n }));
      const agent = scriptedAgent(eachRun({ toolCalls: calls }, 'done'), [tool]);
      const person = await openRuntime(database(), [agent]);
      const worker = await openRuntime(database(), [agent], { environment, limits: { maxParallelTools: 1 } });
      const session = await openSession(worker, agent);
      meanwhile = async () => {
        const [row] = await database().query(
          `SELECT execution_id FROM turnlock.agent_tool_executions WHERE session_id = $1 AND ordinal = 1`,
          [session.sessionId],
        );
        const handle = await person.session({ tenantId: 'tenant', sessionId: session.sessionId });
        await handle.settle(row.execution_id, { outcome: 'succeeded', output: 'by hand', by: 'ada' });
      };
      const run = await session.send('go');
      expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect(acts).toEqual([0, 1, 2].filter((n) => n !== 1 && n <= queued));
      const tools = (await session.history()).filter(({ role }) => role === 'tool').map(({ content }) => content);
      expect(tools).toEqual(['0', 'by hand', '2'].slice(0, queued + 1));
    },
  );
});
