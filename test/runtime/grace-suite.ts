import { expect, test } from 'vitest';
import { ManualClock } from '../../testing/clock/manual-clock.ts';
import { openMortal } from '../support/runtime-crash.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';
import { waitFor } from '../support/wait-for.ts';

const TIMEOUT_MS = 60_000;
const GRACE_MS = 600_000;
const limits = { graceMs: GRACE_MS };

/** The time past a deadline in which a call may still be at work somewhere. */
export const describeGrace: RuntimeSuite = (database) => {
  test('what a tool returns after its deadline and within the grace period is a fact, and counts', async () => {
    const clock = new ManualClock();
    const late = looseTool(
      'late',
      async (_, { signal }) => {
        await database().moveClock(TIMEOUT_MS);
        clock.advance(TIMEOUT_MS);
        await waitFor(() => signal.aborted, { for: 'the signal of the deadline' });
        return 'late';
      },
      { effect: 'nonRepeatable', timeoutMs: TIMEOUT_MS },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('late')] }, 'done'), [late]);
    const session = await openSession(await openRuntime(database(), [agent], { environment: clock, limits }), agent);
    expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
    expect((await session.history())[2]).toMatchObject({ content: 'late', parts: [{ outcome: 'succeeded' }] });
  });

  test('nobody is asked about a lost call before its deadline and the grace period are over', async () => {
    const charge = looseTool('charge', () => 'charged', { effect: 'nonRepeatable', timeoutMs: TIMEOUT_MS });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge')] }, 'done'), [charge]);
    const ofTool = ({ executionId }: { executionId?: string }) => executionId !== undefined;
    const dies = { point: 'afterEffect', fault: 'crash', where: ofTool } as const;
    const { runtime, plan } = await openMortal(database(), [agent], [dies], limits);
    const session = await openSession(runtime, agent);
    await session.send('go');
    await plan.struck;
    // Its lease is over, its call may still be under way at the receiver.
    await database().moveClock(20_000);
    const clock = new ManualClock();
    const second = await openRuntime(database(), [agent], {
      environment: clock,
      limits: { ...limits, leaseMs: 36_000_000 },
    });
    const recovering = second.recover();
    recovering.catch(() => undefined);
    const looksAgain = () =>
      waitFor(() => clock.sleepsMs.some((ms) => ms > 30_000 && ms <= 60_000), { for: 'the next process to wait' });
    await looksAgain();
    // Past the deadline, long before the end of the grace period.
    clock.advance(TIMEOUT_MS + 1_000);
    await Promise.race([recovering, looksAgain()]);
    expect((await (await second.session(session)).status()).state).toBe('EXECUTING_TOOL');
    clock.advance(GRACE_MS);
    expect(await recovering).toMatchObject([{ state: 'AWAITING_INPUT' }]);
  });
};
