import type { Json } from '../machines/event-content.ts';
import type { SessionState } from '../machines/session-state.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { SessionKey } from './read-session.ts';
import type { Store } from './session-transaction.ts';

/** How a run ended, read from its rows. */
export interface StoredRunEnd {
  /** The state after the run's last transition. */
  state: SessionState;
  /** The event of that transition. */
  event: string;
  /** The code that this event carries: why the run failed. `null` where it carries none, or was erased. */
  code: string | null;
  reply: string | null;
  /** What the reply says as the agent's `output`; `null` where it is none. */
  output: Json;
  /** The last recorded error of a model call of the run, where that is how the run ended: else the look for one could go far back. */
  modelError: string | null;
}

interface RunRow {
  to_state: SessionState;
  event: string;
  code: string | null;
  reply: string | null;
  output: Json;
  model_error: string | null;
}

/** The last transition and the last reply of a run; `null` when the session has no such run. */
export async function readRun(
  store: Store,
  { tenantId, sessionId }: SessionKey,
  runId: string,
): Promise<StoredRunEnd | null> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const [row] = (await em.execute(
      `select t.to_state, t.event,
              (select p.payload -> 'event' ->> 'code' from turnlock.agent_transition_payloads p
                where p.session_id = t.session_id and p.sequence = t.sequence) as code,
              r.content as reply, r.metadata -> 'output' as output,
              case when t.event = 'model.failed' then
                (select m.error_message from turnlock.agent_model_calls m
                  where m.session_id = t.session_id and m.run_id = t.run_id and m.error_message is not null
                  order by m.started_at desc limit 1) end as model_error
         from turnlock.agent_transitions t
         left join lateral (
           select u.content, u.metadata from turnlock.agent_turns u
            where u.session_id = t.session_id and u.run_id = t.run_id and u.role = 'assistant'
              and not exists (select from turnlock.agent_tool_executions e where e.turn_id = u.turn_id)
            order by u.turn_index desc limit 1) r on true
        where t.session_id = ? and t.run_id = ?
          and t.event not in ('message.enqueued', 'message.rejected', 'memory.stored', 'content.erased', 'machine.upgraded',
                              'session.completed', 'lease.released')
          -- Late evidence may come after the run's end, and is no end of its own.
          and not (t.event = 'tool.evidenced' and t.from_state = t.to_state and t.to_state in ('IDLE', 'FAILED', 'AWAITING_INPUT'))
        order by t.sequence desc limit 1`,
      [sessionId, runId],
    )) as [RunRow | undefined];
    if (row === undefined) return null;
    const { to_state: state, event, code, reply, output, model_error: modelError } = row;
    return { state, event, code, reply, output, modelError };
  });
}
