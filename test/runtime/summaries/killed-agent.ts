import { type Agent, type Limits, rememberTool } from '../../../index.ts';
import { call } from '../../support/runtime-script.ts';
import { noter } from './summary-scene.ts';

/** Bounds of every process here: a dead one is noticed within a second or two. */
export const KILLED_LIMITS: Partial<Limits> = {
  leaseMs: 1_000,
  heartbeatMs: 300,
  graceMs: 50,
  modelTimeoutMs: 1_000,
  sweepMs: 100,
};

/** The agent of every process here: what begins with `remember` is remembered, by a call. */
export function killedAgent(): Agent {
  const { agent } = noter({
    name: 'killed',
    tools: [rememberTool()],
    answer: ({ turns }) => {
      const last = turns.at(-1);
      if (last?.role !== 'user' || !last.text.startsWith('remember')) return 'done';
      return { toolCalls: [call('remember', { kind: 'fact', content: last.text })] };
    },
  });
  return agent;
}
