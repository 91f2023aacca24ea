import { appendFileSync } from 'node:fs';
import { type Agent, requireApproval } from '../../../index.ts';
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

/** An agent whose `refund` acts in a file, after a person agreed; and one that never comes back and asks nobody, after the message `hang`. */
export function raceAgent({ ledger, name }: Pick<RaceTask, 'ledger' | 'name'>): Agent {
  const act = (sessionId: string): void => appendFileSync(ledger, `${sessionId}\n`);
  const refund = looseTool(
    'refund',
    (_, { sessionId }) => {
      act(sessionId);
      return { done: true };
    },
    {
      effect: 'nonRepeatable',
      policy: (params) =>
        requireApproval((params as { said: string }).said === 'expire' ? { expiresInMs: EXPIRES_IN_MS } : {}),
    },
  );
  const hang = looseTool(
    'hang',
    (_, { sessionId }) => {
      act(sessionId);
      return new Promise(() => undefined);
    },
    { effect: 'nonRepeatable', timeoutMs: 1_500 },
  );
  const script = (request: Parameters<ReturnType<typeof eachRun>>[0]) => {
    const said = request.turns.findLast(({ role }) => role === 'user')!.text;
    return eachRun({ toolCalls: [call(said === 'hang' ? 'hang' : 'refund', { said })] }, 'done')(request);
  };
  return scriptedAgent(script, [refund, hang], name);
}
