import { tool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fromAiSdk } from '../../../adapters/tools/from-ai-sdk.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun } from '../../support/runtime-script.ts';

onPostgres((database) => {
  test('a call of which needsApproval says so waits for a person, beside one that runs then', async () => {
    const acts: number[] = [];
    const tools = fromAiSdk({
      refundBySdk: tool({
        description: 'Refunds.',
        inputSchema: z.object({ cents: z.number() }),
        needsApproval: async ({ cents }) => cents > 100,
        execute: async ({ cents }) => {
          acts.push(cents);
          return { cents };
        },
      }),
    });
    const script = eachRun({ toolCalls: [5, 500, 700].map((cents) => call('refundBySdk', { cents })) }, 'done');
    const agent = scriptedAgent(script, tools);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const { state, awaiting } = await (await session.send('refund')).result();
    expect([state, acts]).toEqual(['AWAITING_INPUT', []]);
    expect(awaiting.map(({ params, reason }) => [params, reason])).toEqual([
      [{ cents: 500 }, 'approval'],
      [{ cents: 700 }, 'approval'],
    ]);
    const [one, two] = awaiting;
    await session.deny(one!.executionId, { by: 'ann', reason: 'no' });
    const run = await session.approve(two!.executionId, { by: 'ann', digest: two!.digest });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(acts).toEqual([5, 700]);
  });
});
