import type { EntityManager } from '@mikro-orm/postgresql';
import { TurnlockError } from '../errors.ts';
import type { OpenCall } from '../machines/open-calls.ts';
import type { EventOf } from '../machines/session-event.ts';
import { AgentToolExecution, type AgentToolExecutionRow } from './entities/agent-tool-execution.entity.ts';
import type { SessionKey } from './read-session.ts';

/** What a person found out about a call that was given up, as a fact about it. */
export interface LateSettlement {
  event: EventOf<'tool.evidenced'>;
  late: AgentToolExecutionRow;
}

/**
 * A person's word about a call whose tool turn is written already, with the outcome unknown. It is what late evidence is: the execution gets
 * its outcome, its business key is moved on, and the model hears of it by a system turn. `null` for every other call.
 *
 * @throws SESSION_BUSY while calls of a later turn are open: between a call and its answer nothing else may stand.
 */
export async function lateSettlement(
  em: EntityManager,
  { tenantId, sessionId }: SessionKey,
  calls: readonly OpenCall[],
  { executionId, outcome, by, content }: EventOf<'execution.settledByPerson'>,
): Promise<LateSettlement | null> {
  if (outcome === 'runAgain' || calls.some((call) => call.executionId === executionId)) return null;
  const late = await em.findOne(AgentToolExecution, { executionId, tenantId, sessionId, status: 'TIMED_OUT' });
  if (late === null) return null;
  if (calls.length > 0) throw busy(executionId, sessionId);
  const result = { executionId, attempt: late.attempt, outcome, by, content };
  return { event: { type: 'tool.evidenced', results: [result], systemTurns: 1 }, late };
}

function busy(executionId: string, sessionId: string): TurnlockError {
  return new TurnlockError('SESSION_BUSY', {
    message: `execution cannot be settled now: ${executionId} (found open calls of a later turn of session ${sessionId}, wanted none)`,
    hint: 'Settle or decide about the calls that are open, or wait until they have ended; then settle this one.',
    details: { executionId, sessionId },
  });
}
