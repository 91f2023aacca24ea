import { expect, test } from 'vitest';
import { LOG_EVENTS, type LogEntry, ToolError } from '../../../index.ts';
import { openMortal, recoverLater } from '../../support/runtime-crash.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';

/** What a log hears. */
function logRecorder() {
  const entries: LogEntry[] = [];
  return {
    entries,
    log: (entry: LogEntry) => void entries.push(entry),
    told: () => entries.map(({ event }) => event).filter((event) => event !== 'commit.done'),
  };
}

onPglite((database) => {
  test('C02 a worker that comes back too late leaves the run to others, and who took it over asks a person', async () => {
    const charge = looseTool('charge', () => 'secret', { effect: 'nonRepeatable' });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('charge', { pin: 'secret' })] }), [charge]);
    const where = ({ executionId }: { executionId?: string }) => executionId !== undefined;
    const stall = [{ point: 'afterEffect', fault: 'stall', where } as const];
    const [late, next] = [logRecorder(), logRecorder()];
    const { runtime, plan } = await openMortal(database(), [agent], stall, {}, late);
    await (await openSession(runtime, agent)).send('a secret');
    await plan.struck;
    await recoverLater(database(), [agent], {}, next);
    plan.resume();
    await waitFor(() => late.told().includes('run.leftToOthers'), { for: 'the refused write' });
    expect(late.told().slice(0, 4)).toEqual(['runtime.started', 'run.began', 'write.stale', 'run.leftToOthers']);
    expect(next.told()).toEqual([
      'runtime.started',
      'session.tookOver',
      'run.continued',
      'tool.outcomeUnknown',
      'person.asked',
      'run.rested',
    ]);
    const all = [...late.entries, ...next.entries];
    expect(all.every(({ event, level }) => LOG_EVENTS[event] === level)).toBe(true);
    expect(JSON.stringify(all)).not.toContain('secret');
  });

  test('an attempt of a tool that is made again is an entry, and so is a drive that breaks off, with its code', async () => {
    let [tries, isAsked] = [0, false];
    const flaky = looseTool(
      'flaky',
      () => {
        tries += 1;
        if (tries === 1) throw new ToolError('a secret', { retryable: true });
        isAsked = true;
      },
      { retry: { attempts: 3, backoff: { initialMs: 0 } } },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('flaky')] }), [flaky]);
    const breaks = () => {
      throw new Error('a secret');
    };
    const faults = [{ point: 'afterLock', fault: breaks, where: () => isAsked } as const];
    const { entries, told, log } = logRecorder();
    const { runtime } = await openMortal(database(), [agent], faults, {}, { log });
    await (await openSession(runtime, agent)).send('go');
    await waitFor(() => told().includes('run.broke') || told().includes('run.rested'), { for: 'the end of the drive' });
    expect(told()).toEqual(['runtime.started', 'run.began', 'tool.attemptFailed', 'run.broke']);
    expect(entries.at(-1)?.attributes).toMatchObject({ agentName: agent.name, code: 'INVARIANT_BROKEN' });
    expect(JSON.stringify(entries)).not.toContain('secret');
  });
});
