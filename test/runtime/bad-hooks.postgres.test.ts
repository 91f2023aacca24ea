import { expect, test } from 'vitest';
import type { OnAwaiting } from '../../index.ts';
import { atTestEnd } from '../support/at-test-end.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession } from '../support/runtime-open.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, refundAgent } from './approval-scene.ts';

const broken = (): never => {
  throw new Error('the hook is broken');
};

onPostgres((database) => {
  test.each<[string, OnAwaiting]>([
    ['throws at once', broken],
    ['throws nothing that is an error', () => Promise.reject(undefined)],
    ['rejects once nobody waits for it any more', () => new Promise((_, reject) => void setTimeout(reject, 60))],
    // biome-ignore lint/suspicious/noThenProperty: that is what is tried
    ['gives what throws when it is waited for', () => ({ then: broken })],
  ])('a hook that %s ends neither the run nor the process, and somebody is warned', async (_, onAwaiting) => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    atTestEnd(() => void process.off('unhandledRejection', note));
    const { agent, acts } = refundAgent(ask, { order: 1 });
    const warnings: string[] = [];
    const onWarning = ({ code }: { code: string }): never => {
      warnings.push(code);
      return broken();
    };
    const emitted: string[] = [];
    const hear = ({ code }: Error & { code?: string }): void => void emitted.push(code ?? '');
    process.on('warning', hear);
    atTestEnd(() => void process.off('warning', hear));
    const runtime = await openRuntime(database(), [agent], { onAwaiting, onWarning, limits: { hookTimeoutMs: 20 } });
    const session = await openSession(runtime, agent);
    const { awaiting } = await (await session.send('refund')).result();
    await waitFor(() => warnings.includes('ON_AWAITING_FAILED'), { for: 'the warning' });
    await waitFor(() => emitted.includes('ON_WARNING_FAILED'), { for: 'the warning about who was warned' });
    const run = await session.approve(awaiting[0]!.executionId, { by: 'ada' });
    expect(await run.result()).toMatchObject({ state: 'IDLE' });
    await runtime.close();
    // Long enough for what rejects late.
    const end = performance.now() + 80;
    await waitFor(() => performance.now() > end, { for: 'late rejections' });
    expect([acts, unhandled]).toEqual([[{ order: 1 }], []]);
  });
});
