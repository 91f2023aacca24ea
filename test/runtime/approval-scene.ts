import { type Policy, requireApproval } from '../../index.ts';
import { scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

/** An agent that calls `refund` once for each of `inputs`, and a ledger of what ran. */
export function refundAgent(policy: Policy, ...inputs: object[]) {
  const acts: unknown[] = [];
  const keys: string[] = [];
  const shown: string[][] = [];
  const refund = looseTool(
    'refund',
    (params, { idempotencyKey }) => {
      acts.push(params);
      keys.push(idempotencyKey);
      return { done: true };
    },
    { effect: 'nonRepeatable', policy },
  );
  const script = eachRun({ toolCalls: inputs.map((input) => call('refund', input)) }, 'done');
  const agent = scriptedAgent(
    (request) => {
      shown.push(request.turns.map(({ role, text }) => `${role}: ${text}`));
      return script(request);
    },
    [refund],
  );
  return { agent, acts, keys, shown };
}

/** A policy that always wants a person. */
export const ask: Policy = () => requireApproval();
