import { readId } from './choose-session.ts';
import { sayAboutCall } from './say-about-call.ts';
import { readSettlement, type SettleOptions } from './settle-options.ts';
import { settleWithoutAgent } from './settle-without-agent.ts';
import type { SharedOptions } from './shared-options.ts';

/** Does what `turnlock settle` says. */
export async function runSettle(execution: string, options: SharedOptions & SettleOptions): Promise<void> {
  const settlement = readSettlement(options);
  const executionId = readId(execution, 'execution');
  await sayAboutCall(executionId, options, {
    what: 'settled',
    hasOutput: settlement.outcome === 'succeeded',
    withAgent: (session) => session.settle(executionId, settlement),
    alone: (store, key) => settleWithoutAgent(store, key, executionId, settlement),
  });
}
