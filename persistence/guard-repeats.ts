import type { EntityManager } from '@mikro-orm/postgresql';
import type { Json } from '../machines/event-content.ts';
import type { ExecutionStatus } from '../machines/execution-status.ts';
import type { PlannedCall } from '../machines/session-event.ts';
import { askInstead } from './ask-instead.ts';
import type { SessionKey } from './read-session.ts';

/** An earlier execution that has succeeded, is open, or may have taken effect. */
interface Earlier {
  place: number;
  execution_id: string;
  in_run: boolean;
  status: ExecutionStatus;
  is_unknown: boolean;
  output: string | null;
}

/**
 * Calls that equal an earlier one do not begin by themselves: one of the same run, or one of the session of which nobody knows whether it took
 * effect. A model that hears "unknown", or whose user writes again, may ask for the same again, and has another key then. One statement
 * where the plan has calls of a tool that guards its repeats, none elsewhere.
 *
 * A run that was retried counts with the one that it retries: nobody has asked for the act anew.
 */
export async function guardRepeats(em: EntityManager, key: SessionKey, calls: PlannedCall[]): Promise<PlannedCall[]> {
  const guarded = calls.filter(({ verdict, content }) => verdict !== 'settled' && content.onRepeat !== undefined);
  if (guarded.length === 0) return calls;
  const earlier = await findEarlier(em, key, guarded);
  if (earlier.length === 0) return calls;
  return calls.map((call) => {
    const place = guarded.indexOf(call);
    const found = earlier.find((one) => one.place === place);
    return found === undefined ? call : guardRepeat(call, found);
  });
}

/** What is read of an execution that equals one of the plan: by the params that were written, or by those that an upgrade made of them. */
const EARLIER = `select coalesce(e.answered_by, e.execution_id) as execution_id, e.status, e.unknown_at is not null as is_unknown,
          e.output_payload::text as output, e.started_at`;
const SAME = 'e.tool_name = v.tool_name and (e.params_digest = v.digest or e.upgraded_digest = v.digest)';

/**
 * One row at most for each call of the plan: a success of the run first, which answers; then what else the run has; then what the session gave
 * up with an unknown outcome, which stays in the way until a person says how it ended.
 */
async function findEarlier(em: EntityManager, key: SessionKey, guarded: PlannedCall[]): Promise<Earlier[]> {
  const { tenantId, sessionId } = key;
  const wanted = guarded.flatMap(({ content }, place) => [place, content.toolName, content.paramsDigest]);
  return (await em.execute(
    `select v.place, x.* from (values ${guarded.map(() => '(?::int, ?::text, ?::text)').join(', ')}) as v (place, tool_name, digest)
      cross join lateral (
        select * from (
          ${EARLIER}, true as in_run from turnlock.agent_tool_executions e
           where e.run_id in (
                   select t.run_id from turnlock.agent_turns t
                    where t.session_id = ? and t.turn_index >= (
                      select max(u.turn_index) from turnlock.agent_turns u where u.session_id = ? and u.role = 'user'))
             and e.tenant_id = ? and e.session_id = ? and e.status <> 'FAILED' and ${SAME}
          union all
          ${EARLIER}, false as in_run from turnlock.agent_tool_executions e
           where e.session_id = ? and e.status = 'TIMED_OUT' and e.tenant_id = ? and ${SAME}
        ) e
        order by e.status = 'SUCCESS' desc, e.in_run desc, e.started_at desc limit 1
      ) x`,
    [...wanted, sessionId, sessionId, tenantId, sessionId, sessionId, tenantId],
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

function whatIsKnown({ status, is_unknown, execution_id, in_run }: Earlier): string {
  if (status === 'SUCCESS') return `The same call has succeeded before in this run (execution ${execution_id}).`;
  const isUnknown = status === 'TIMED_OUT' || is_unknown;
  return isUnknown
    ? `The outcome of the same call earlier in this ${in_run ? 'run' : 'session'} is unknown: it may have taken effect (execution ${execution_id}).`
    : `The same call of this run is in progress (execution ${execution_id}).`;
}
