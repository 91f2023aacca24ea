import { scripted } from '../../../adapters/models/scripted.ts';
import { type Agent, defineAgent } from '../../../index.ts';
import type { Limits } from '../../../limits.ts';
import { call, looseTool } from '../../support/runtime-script.ts';
import { asked, asking, told } from './scene.ts';

/** Short leases, so that what a killed process held is soon taken over. */
export const FAMILY_LIMITS: Partial<Limits> = {
  leaseMs: 500,
  heartbeatMs: 100,
  graceMs: 100,
  sweepMs: 100,
  childLookMs: 500,
  maxRecoveries: 1_000,
  maxToolAttempts: 1_000,
};

/** A boss that asks two researchers, each of which acts once. `pause` comes before each answer and around each act. */
export function family({ act, pause }: { act: (key: string) => void; pause: () => Promise<void> }): Agent {
  const note = looseTool('note', async ({ what }, { idempotencyKey }) => {
    await pause();
    act(`${what} ${idempotencyKey}`);
    await pause();
    return `noted ${what}`;
  });
  const research = defineAgent({
    name: 'family-research',
    instructions: '',
    tools: [note],
    model: scripted(async (request) => {
      await pause();
      return told(request).length === 0
        ? { toolCalls: [call('note', { what: asked(request) })] }
        : told(request).join();
    }),
  });
  const ask = (message: string) => ({ toolName: 'research', input: { message } });
  return defineAgent({
    name: 'family-boss',
    instructions: '',
    tools: [research.asTool({ name: 'research' })],
    model: scripted(async (request) => {
      await pause();
      return asking(ask('gold'), ask('iron'))(request);
    }),
  });
}
