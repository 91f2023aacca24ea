import type { EntityManager } from '@mikro-orm/postgresql';
import type { Json } from '../machines/event-content.ts';
import type { ExecutionStatus } from '../machines/execution-status.ts';
import type { PlannedCall } from '../machines/session-event.ts';
import { askInstead } from './ask-instead.ts';
import type { SessionKey } from './read-session.ts';

/** An earlier execution of the run that has succeeded, is open, or may have taken effect. */
interface Earlier {
  execution_id: string;
  tool_name: string;
  params_digest: string;
  status: ExecutionStatus;
  is_unknown: boolean;
  output: string | null;
}

/**
 * Calls that equal one of the same run do not begin by themselves: a model that hears "unknown" may ask for the same again, and has
 * another key then. One statement where the plan has calls of a tool that guards its repeats, none elsewhere.
 *
 * A run that was retried counts with the one that it retries: nobody has asked for the act anew.
 */
export async function guardRepeats(em: EntityManager, key: SessionKey, calls: PlannedCall[]): Promise<PlannedCall[]> {
  const guarded = calls.filter(({ verdict, content }) => verdict !== 'settled' && content.onRepeat !== undefined);
  if (guarded.length === 0) return calls;
  const earlier = await findEarlier(em, key, guarded);
  if (earlier.length === 0) return calls;
  return calls.map((call) => {
    const found = guarded.includes(call) ? earlier.find((one) => isSame(one, call)) : undefined;
    return found === undefined ? call : guardRepeat(call, found);
  });
}

function isSame(earlier: Earlier, { content }: PlannedCall): boolean {
  return earlier.tool_name === content.toolName && earlier.params_digest === content.paramsDigest;
}

/** Successes first, of which the last one answers. */
async function findEarlier(em: EntityManager, key: SessionKey, guarded: PlannedCall[]): Promise<Earlier[]> {
  const { tenantId, sessionId } = key;
  const names = guarded.flatMap(({ content }) => [content.toolName, content.paramsDigest]);
  return (await em.execute(
    `select coalesce(e.answered_by, e.execution_id) as execution_id, e.tool_name, e.params_digest, e.status, e.unknown_at is not null as is_unknown,
            e.output_payload::text as output
       from turnlock.agent_tool_executions e
      where e.run_id in (
              select t.run_id from turnlock.agent_turns t
               where t.session_id = ? and t.turn_index >= (
                 select max(u.turn_index) from turnlock.agent_turns u where u.session_id = ? and u.role = 'user'))
        and e.tenant_id = ? and e.session_id = ? and e.status <> 'FAILED'
        and (e.tool_name, e.params_digest) in (values ${guarded.map(() => '(?, ?)').join(', ')})
      order by e.status = 'SUCCESS' desc, e.started_at desc`,
    [sessionId, sessionId, tenantId, sessionId, ...names],
  )) as Earlier[];
}

function guardRepeat(call: PlannedCall, earlier: Earlier): PlannedCall {
  const said = whatIsKnown(earlier);
  if (call.content.onRepeat === 'ask') return askInstead(call, `${said} Approve it to run it again.`);
  if (earlier.status === 'SUCCESS') {
    const settled = { output: JSON.parse(earlier.output ?? 'null') as Json };
    const answered = { executionId: earlier.execution_id, as: 'repeat' } as const;
    return { ...call, verdict: 'settled', outcome: 'succeeded', content: { ...call.content, settled, answered } };
  }
  const settled = { error: { code: 'CALL_NOT_REPEATED', message: `${said} It was not repeated.` } };
  return { ...call, verdict: 'settled', outcome: 'failed', content: { ...call.content, settled } };
}

function whatIsKnown({ status, is_unknown, execution_id }: Earlier): string {
  if (status === 'SUCCESS') return `The same call has succeeded before in this run (execution ${execution_id}).`;
  const isUnknown = status === 'TIMED_OUT' || is_unknown;
  return isUnknown
    ? `The outcome of the same call earlier in this run is unknown: it may have taken effect (execution ${execution_id}).`
    : `The same call of this run is in progress (execution ${execution_id}).`;
}
