import type { EntityManager } from '@mikro-orm/postgresql';
import { TurnlockError } from '../../errors.ts';
import { type SessionKey, sessionNotFound } from '../read-session.ts';

interface Found {
  isErased: boolean;
  /** How many turns the session has. */
  turns: number;
  /** The last assistant turn up to the cut; `null` where there is none. */
  asked: number | null;
  /** How many calls it made, and how many of them have their tool turn up to the cut. */
  calls: number;
  answered: number;
  /** Its last tool turn, wherever; `null` where it has none. */
  ended: number | null;
  /** How many of its calls have their tool turn at all. */
  ever: number;
}

/**
 * The last turn of a prefix that can be copied: `atTurn` itself, or, where that is `null`, the last one of all that can.
 *
 * The origin's row is locked so that its commits are not kept waiting, but an erasure or a deletion is: what is copied must not outlive those.
 *
 * Tool turns are written together, so only the last assistant turn of a prefix can have calls without one.
 *
 * @throws SESSION_NOT_FOUND when the tenant has no such session.
 * @throws FORK_TURN_INVALID when the session has no such turn, or a call up to it has its tool turn later or not yet.
 */
export async function findForkTurn(em: EntityManager, key: SessionKey, atTurn: number | null): Promise<number> {
  const { tenantId, sessionId } = key;
  const [found] = (await em.execute(
    `select s.erased_at is not null as "isErased", c.turns, a.turn_index as asked, coalesce(a.calls, 0)::int as calls, r.answered, r.ended, r.ever
       from turnlock.agent_sessions s
      cross join lateral (
        select count(*)::int as turns from turnlock.agent_turns t where t.session_id = s.session_id) c
       left join lateral (
        select t.turn_id, t.turn_index, (
                 select count(*) from jsonb_array_elements(t.parts) p where p ->> 'type' = 'toolCall') as calls
          from turnlock.agent_turns t
         where t.session_id = s.session_id and t.role = 'assistant' and t.turn_index <= coalesce(?::int, c.turns)
         order by t.turn_index desc limit 1) a on true
      cross join lateral (
        select count(*) filter (where t.turn_index <= coalesce(?::int, c.turns))::int as answered, max(t.turn_index) as ended,
               count(*)::int as ever
          from turnlock.agent_turns t where t.session_id = s.session_id and t.call_turn_id = a.turn_id) r
      where s.tenant_id = ? and s.session_id = ?
        for key share of s`,
    [atTurn, atTurn, tenantId, sessionId],
  )) as Found[];
  if (found === undefined) throw sessionNotFound(key);
  return cutOf(key, found, atTurn);
}

function cutOf({ sessionId }: SessionKey, found: Found, atTurn: number | null): number {
  const { isErased, turns, asked, calls, answered, ended, ever } = found;
  if (isErased) throw refused(sessionId, { atTurn, found: 'erased contents', wanted: 'its contents', nearest: [] });
  if (turns === 0) throw refused(sessionId, { atTurn, found: 'no turn', wanted: 'a session with turns', nearest: [] });
  if (atTurn !== null && atTurn >= turns) {
    const wanted = `a turn from 0 to ${turns - 1}`;
    throw refused(sessionId, { atTurn, found: `${turns} turns`, wanted, nearest: [] });
  }
  if (answered >= calls) return atTurn ?? turns - 1;
  const before = (asked as number) - 1;
  if (atTurn === null && before >= 0) return before;
  const nearest = [...(before >= 0 ? [before] : []), ...(ever >= calls ? [ended as number] : [])];
  const open = `${calls - answered} of ${calls} calls of turn ${asked} without their tool turn`;
  const wanted = nearest.length === 0 ? 'a later one, once they are settled' : `turn ${nearest.join(' or ')}`;
  throw refused(sessionId, { atTurn, found: open, wanted, nearest });
}

interface Refusal {
  atTurn: number | null;
  found: string;
  wanted: string;
  /** The turns next to it where the session can be forked. */
  nearest: number[];
}

function refused(sessionId: string, { atTurn, found, wanted, nearest }: Refusal): TurnlockError {
  const place = atTurn === null ? 'its last turn' : `turn ${atTurn}`;
  return new TurnlockError('FORK_TURN_INVALID', {
    message: `session cannot be forked at ${place}: session ${sessionId} (found ${found}, wanted ${wanted})`,
    details: { sessionId, atTurn, nearest },
  });
}
