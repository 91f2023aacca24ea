import type { EntityManager } from '@mikro-orm/postgresql';
import type { Found } from './doctor-codes.ts';

/** Findings of one kind and page that are told; a history that is wrong is wrong in many places. */
const MAX_FOUND = 200;

/*
 * Every turn with its place, how many calls it has, and what of it is wrong:
 *
 * - its index is not its place;
 * - it has calls, is not the turn whose calls are open, and not exactly as many tool turns follow it;
 * - it is a tool turn and does not stand directly behind its call's turn, in the order of the calls.
 *
 * One statement, so that a commit is seen whole or not at all. What a snapshot holds that does not parse names no open turn.
 * Of a session that was erased nobody knows any more which calls its turns had.
 */
const WRONG = `with turns as (
    select u.session_id, u.turn_id, u.turn_index, u.role, u.call_turn_id, u.call_ordinal,
           row_number() over (partition by u.session_id order by u.turn_index) - 1 as place,
           (select count(*) from jsonb_array_elements(case jsonb_typeof(u.parts) when 'array' then u.parts else '[]' end) p
             where p ->> 'type' = 'toolCall') as calls
      from turnlock.agent_turns u where u.session_id = any (?::uuid[])
  ), answers as (select call_turn_id, count(*) as answered from turns where role = 'tool' group by call_turn_id)
  select t.session_id, t.turn_index, case
      when t.turn_index <> t.place then 'order'
      when t.role = 'tool' and c.turn_id is null then 'no call'
      when t.role = 'tool' and (t.call_ordinal >= c.calls or t.turn_index <> c.turn_index + 1 + t.call_ordinal) then 'place'
      else 'answers' end as wrong,
    t.place::int as place, t.calls::int as calls, coalesce(a.answered, 0)::int as answered
  from turns t
  join turnlock.agent_sessions s on s.session_id = t.session_id
  left join turns c on c.session_id = t.session_id and c.turn_id = t.call_turn_id and c.role = 'assistant'
  left join answers a on a.call_turn_id = t.turn_id
 where t.turn_index <> t.place
    or (t.role = 'tool' and (c.turn_id is null or t.turn_index <> c.turn_index + 1 + t.call_ordinal
      or (s.erased_at is null and t.call_ordinal >= c.calls)))
    or (t.calls > 0 and coalesce(a.answered, 0)
      <> case when s.snapshot #>> '{context,callTurnIndex}' = t.turn_index::text then 0 else t.calls end)
 order by t.session_id, t.turn_index limit ?`;

interface Row {
  session_id: string;
  turn_index: number;
  wrong: 'order' | 'no call' | 'place' | 'answers';
  place: number;
  calls: number;
  answered: number;
}

/** Turns of these sessions that do not stand as they must. In the caller's transaction, which sees one tenant. */
export async function checkHistories(
  em: EntityManager,
  { tenantId, sessionIds }: { tenantId: string; sessionIds: readonly string[] },
): Promise<Found[]> {
  const rows = (await em.execute(WRONG, [`{${sessionIds.join(',')}}`, MAX_FOUND])) as Row[];
  return rows.map(({ session_id: sessionId, ...row }) => ({ tenantId, sessionId, ...toFound(row) }));
}

function toFound({ turn_index: index, wrong, place, calls, answered }: Omit<Row, 'session_id'>): Found {
  const at = { place: `turn ${index}` };
  switch (wrong) {
    case 'order':
      return { ...at, code: 'TURN_ORDER', found: `index ${index} at place ${place}`, wanted: `index ${place}` };
    case 'no call':
      return {
        ...at,
        code: 'HISTORY_INVALID',
        found: 'a tool turn without a call',
        wanted: 'a call in a turn before it',
      };
    case 'place':
      return { ...at, code: 'HISTORY_INVALID', found: 'a tool turn away from its call', wanted: 'directly behind it' };
    default:
      return { ...at, code: 'HISTORY_INVALID', found: `${answered} tool turns for its calls`, wanted: `${calls}` };
  }
}
