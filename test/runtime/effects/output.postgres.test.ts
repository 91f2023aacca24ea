import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, ToolError } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun } from '../../support/runtime-script.ts';

const slip = z.object({ id: z.string(), cents: z.number().default(0) });

const throws = () => {
  throw new Error('broken');
};

onPostgres((database) => {
  /** A run of one call of a tool that promises a slip. */
  async function callThat(execute: () => unknown, outputSchema: z.ZodType = slip) {
    let calls = 0;
    const refund = defineTool({
      name: 'refund',
      description: 'Refunds.',
      inputSchema: z.object({}),
      outputSchema,
      execute: () => {
        calls += 1;
        return execute();
      },
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('refund')] }, 'done'), [refund]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const result = await (await session.send('go')).result();
    const [row] = await database().query(
      'SELECT status, output_payload AS output FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    return { result, row, session, calls, told: (await session.history())[2]?.content };
  }

  test('what the schema makes of an output is what is stored and told', async () => {
    const { row, told } = await callThat(() => ({ id: 'r1', extra: true }));
    expect(row).toEqual({ status: 'SUCCESS', output: { id: 'r1', cents: 0 } });
    expect(JSON.parse(told!)).toEqual({ id: 'r1', cents: 0 });
  });

  test.each<[string, () => unknown, z.ZodType | undefined, unknown]>([
    ['has another form', () => ({ id: 7 }), undefined, { id: 7 }],
    ['is absent', () => undefined, undefined, null],
    ['makes the validator throw', () => 'ok', z.string().refine(throws), 'ok'],
  ])(
    'an output that %s: the call has succeeded once, and the model is told what it is and what is wrong',
    async (_, execute, schema, output) => {
      const { result, row, calls, told } = await callThat(execute, schema);
      expect([result.state, calls]).toEqual(['IDLE', 1]);
      expect(row).toMatchObject({ status: 'SUCCESS', output: { unfit: true, output } });
      expect(told).toContain('The call succeeded, but its output is not what the tool promises');
    },
  );

  test('C36 one that neither fits nor can be stored is a placeholder', async () => {
    const { row } = await callThat(() => ({ id: 1n }));
    expect(row).toMatchObject({ status: 'SUCCESS', output: { notStored: true } });
  });

  test('what a person says a call returned is held against the schema, before anything is written', async () => {
    const refund = defineTool({
      name: 'refund',
      description: 'Refunds.',
      inputSchema: z.object({}),
      outputSchema: slip,
      execute: () => {
        throw new ToolError('no answer', { outcome: 'unknown' });
      },
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('refund')] }, 'done'), [refund]);
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const { awaiting } = await (await session.send('go')).result();
    const { executionId } = awaiting[0]!;
    const { version } = await session.status();
    await expect(
      session.settle(executionId, { outcome: 'succeeded', output: { id: 7 }, by: 'ann' }),
    ).rejects.toMatchObject({
      code: 'OUTCOME_INVALID',
    });
    expect((await session.status()).version).toBe(version);
    const run = await session.settle(executionId, { outcome: 'succeeded', output: { id: 'r1' }, by: 'ann' });
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(JSON.parse((await session.history())[2]!.content)).toEqual({ id: 'r1', cents: 0 });
  });
});
