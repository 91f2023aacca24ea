import { expect, test } from 'vitest';
import type { Limits } from '../../../../limits.ts';
import { connect, mcpWorld, stdioOf } from '../../../support/mcp/mcp-world.ts';
import { onPglite } from '../../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../../support/runtime-open.ts';
import { call, eachRun } from '../../../support/runtime-script.ts';

/** Tools of an MCP server in runs, from the model to the ledger that the server keeps. */
onPglite((database) => {
  /** A session whose model makes `calls` at once, as `[tool, params]`. */
  async function run(calls: [string, Record<string, unknown>][], limits: Partial<Limits> = {}, timeoutMs = 120_000) {
    const world = await mcpWorld();
    const { tools } = await connect(stdioOf(world), {
      trustAnnotations: true,
      tools: { charge: { timeoutMs } },
    });
    const toolCalls = calls.map(([name, params]) => call(name, params));
    const agent = scriptedAgent(eachRun({ toolCalls }, 'done'), tools);
    const session = await openSession(await openRuntime(database(), [agent], { limits }), agent);
    const result = await (await session.send('go')).result();
    const answers = async () => (await session.history()).filter(({ role }) => role === 'tool');
    const keys = () => world.lines('called').map(({ meta }) => meta?.['turnlock/idempotencyKey']);
    return { world, session, result, answers, keys };
  }

  test('results and failures are told to the model, each on its own, and what does not fit the schema is not sent', async () => {
    const { world, result, answers } = await run(
      [
        ['look', { mode: 'structured' }],
        ['look', { mode: 'fail', say: 'no such order' }],
        ['look', { mode: 'sideways' }],
        ['look', { mode: 'huge', bytes: 5_000 }],
      ],
      { maxOutputBytes: 1_000 },
    );
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    const told = await answers();
    expect(told.map(({ parts }) => (parts[0] as { outcome: string }).outcome)).toEqual([
      'succeeded',
      'failed',
      'failed',
      'succeeded',
    ]);
    expect(told.map(({ content }) => content)).toEqual([
      '{"total":3}',
      expect.stringContaining('no such order'),
      expect.stringContaining('mode'),
      expect.stringContaining('VALUE_TOO_LARGE'),
    ]);
    expect(world.lines('called')).toHaveLength(3);
  });

  test('C06 an error inside the server is no failure of a nonRepeatable call: a person is asked', async () => {
    const { world, result } = await run([['charge', { mode: 'throw' }]]);
    expect(result).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ toolName: 'charge', reason: 'unknown' }] });
    expect(world.lines('called')).toHaveLength(1);
  });

  test('C02 a server that dies during a nonRepeatable call: a person is asked at once, and nothing is done twice unasked', async () => {
    const { world, session, result, keys } = await run([['charge', { mode: 'dieOnce' }]], { graceMs: 3_600_000 });
    expect(result).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ toolName: 'charge', reason: 'unknown' }] });
    expect(world.lines('called')).toHaveLength(1);
    const again = await session.settle(result.awaiting[0]!.executionId, { outcome: 'runAgain', by: 'ann' });
    expect(await again.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(1);
  });

  test('C02 C03 a server that dies during an idempotent call is started again and called with the same key', async () => {
    const { result, answers, keys } = await run([['put', { mode: 'dieOnce' }]]);
    expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect(await answers()).toMatchObject([{ content: 'done', parts: [{ outcome: 'succeeded' }] }]);
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(1);
  });

  test('a nonRepeatable call that hangs is cancelled at its deadline, and a person is asked', async () => {
    const { world, result } = await run([['charge', { mode: 'hang' }]], {}, 1_000);
    expect(result).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ reason: 'unknown' }] });
    expect(world.lines('cancelled')).toHaveLength(1);
  });
});
