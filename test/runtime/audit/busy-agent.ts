import type { Policy, Runtime, Session } from '../../../index.ts';
import { requireApproval, ToolError } from '../../../index.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, gate, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';

const ask: Policy = () => requireApproval();

/**
 * A session in which most of what can happen has happened: parallel calls, one of a tool that is not there, one of unknown outcome that a
 * person settled, approvals granted, amended and denied, a message that waited, a run that was cancelled while its tool was out, its
 * late result, a run that failed and was retried, and another worker.
 */
export async function onceInAWhile(database: RuntimeDatabase): Promise<{ session: Session; runtime: Runtime }> {
  const hanging = gate();
  const begun = gate();
  let isBroken = true;
  const tools = [
    looseTool('look', ({ n }) => ({ seen: n }), { effect: 'readOnly' }),
    looseTool(
      'hang',
      (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      { effect: 'nonRepeatable' },
    ),
    looseTool(
      'doubt',
      () => {
        throw new ToolError('no answer', { outcome: 'unknown' });
      },
      { effect: 'nonRepeatable' },
    ),
    looseTool('pay', () => ({ paid: true }), { effect: 'nonRepeatable', policy: ask }),
    looseTool(
      'late',
      async () => {
        begun.open();
        await hanging.opened;
        return { late: true };
      },
      { effect: 'nonRepeatable' },
    ),
  ];
  const PLANS: Record<string, ReturnType<typeof call>[]> = {
    parallel: [call('look', { n: 1 }), call('look', { n: 2 }), call('look', { n: 1 }), call('no_such_tool')],
    hang: [call('hang')],
    doubt: [call('doubt')],
    pay: [call('pay', { n: 1 }), call('pay', { n: 2 }), call('pay', { n: 3 })],
    late: [call('late')],
  };
  const agent = scriptedAgent(({ turns }) => {
    const since = turns.slice(turns.findLastIndex((turn) => turn.role === 'user'));
    const text = since[0]?.text ?? '';
    if (text === 'fail' && isBroken) throw new Error('the model is away');
    const toolCalls = PLANS[text];
    return since.length === 1 && toolCalls !== undefined ? { toolCalls } : `did ${text}`;
  }, tools);
  const limits = { maxModelAttempts: 2 };
  const runtime = await openRuntime(database, [agent], { limits, adapter: database.adapter() });
  const session = await openSession(runtime, agent);
  const rest = async (run: Awaited<ReturnType<Session['send']>>) => (await run.result()).awaiting;
  const first = await session.send('parallel', { messageId: 'message-1' });
  const second = await session.send('parallel', { messageId: 'message-2' });
  await rest(first);
  await rest(second);
  const [unknown] = await rest(await session.send('doubt'));
  await rest(await session.settle(unknown!.executionId, { outcome: 'succeeded', output: { by: 'hand' }, by: 'cleo' }));
  const [one, two, three] = await rest(await session.send('pay'));
  await session.approve(one!.executionId, { by: 'ann' });
  await session.deny(two!.executionId, { by: 'bob', reason: 'no' });
  await rest(await session.approve(three!.executionId, { by: 'ann', params: { n: 4 } }));
  await session.send('late');
  await begun.opened;
  const cancelled = session.cancel({ by: 'dan' });
  hanging.open();
  await cancelled;
  await waitFor(
    async () => (await session.history()).at(-1)?.role === 'system' || runtime.recover().then(() => false),
    {
      for: 'the late result to be told',
    },
  );
  await rest(await session.send('fail'));
  isBroken = false;
  await rest(await session.retry({ by: 'eve' }));
  await session.send('hang');
  const other = await openRuntime(database, [agent], { adapter: database.adapter() });
  let days = 0;
  const isTaken = async () => {
    await database.moveClock(LONG_MS); // a heartbeat may come between
    days += 1;
    await other.recover();
    return (await session.status()).state === 'AWAITING_INPUT';
  };
  await waitFor(isTaken, { for: 'another worker to take it over' });
  await database.moveClock(-days * LONG_MS);
  await session.cancel();
  await other.close();
  await runtime.close();
  const reading = await openRuntime(database, [agent], { adapter: database.adapter() });
  return { session: await reading.session(session), runtime: reading };
}
