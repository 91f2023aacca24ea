import { appendFileSync } from 'node:fs';
import { type Agent, allow, requireApproval } from '../../../index.ts';
import { scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';

/** What the two processes of a race share. */
export interface RaceTask {
  url: string;
  /** The outside world: one line for each act. */
  ledger: string;
  name: string;
}

/** How long a question of the message `expire` may be answered, in milliseconds. */
export const EXPIRES_IN_MS = 1_000;

/** An agent whose `refund` acts in a file, after a person agreed; after the message `hang` it never comes back and asks nobody. */
export function raceAgent({ ledger, name }: Pick<RaceTask, 'ledger' | 'name'>): Agent {
  const refund = looseTool(
    'refund',
    ({ said }, { sessionId }) => {
      appendFileSync(ledger, `${sessionId}\n`);
      return said === 'hang' ? new Promise(() => undefined) : { done: true };
    },
    {
      effect: 'nonRepeatable',
      timeoutMs: 200,
      policy: (params) => {
        const { said } = params as { said: string };
        if (said === 'hang') return allow();
        return requireApproval(said === 'expire' ? { expiresInMs: EXPIRES_IN_MS } : {});
      },
    },
  );
  const script = (request: Parameters<ReturnType<typeof eachRun>>[0]) => {
    const said = request.turns.findLast(({ role }) => role === 'user')!.text;
    return eachRun({ toolCalls: [call('refund', { said })] }, 'done')(request);
  };
  return scriptedAgent(script, [refund], name);
}
