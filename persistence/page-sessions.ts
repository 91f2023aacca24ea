import { conditionsOf, listSessions, type SessionSummary, type SessionsQuery } from './list-sessions.ts';
import { inPatientTransaction } from './patient-transaction.ts';
import type { Store } from './session-transaction.ts';

/** A place in the order of sessions, last changed first: after the session that was there when it was shown. */
export interface SessionPlace {
  /** When it was changed last, in whole microseconds since 1970. */
  changedMicros: string;
  sessionId: string;
}

/** One page of the sessions of a tenant. */
export interface SessionPageQuery extends Omit<SessionsQuery, 'limit' | 'sessionIds'> {
  /** Only those with an open round of asking a person. */
  isAsked?: boolean;
  /** Only those that were changed within so many milliseconds, by the database's clock. */
  changedWithinMs?: number;
  /** From where, and which way. Absent: those that were changed last. */
  from?: { place: SessionPlace; to: 'older' | 'newer' };
  /** How many at the most. */
  limit: number;
}

/** A session of a page, with its place. */
export interface PagedSession extends SessionSummary {
  place: SessionPlace;
}

/** What a page shows. */
export interface SessionsOfPage {
  /** Last changed first. */
  sessions: PagedSession[];
  /**
   * Where the look ended, in the direction that was asked for: beyond it there may be more. That is the last session that is shown, or, in a
   * look for what is stranded, which is no column, the last one of so many that were compared. `null` where nothing is beyond.
   */
  lookedUpTo: SessionPlace | null;
}

/** Sessions that one look for stranded ones compares with the build. */
export const STRANDED_WINDOW = 2_000;

/**
 * The page, in two short reads: the keys by the index of tenants and times, then what is shown of each. A session that is changed between
 * two pages moves to the first one.
 */
export async function pageSessions(store: Store, query: SessionPageQuery): Promise<SessionsOfPage> {
  const { tenantId, limit, stranded = false, build } = query;
  const window = stranded ? STRANDED_WINDOW : limit;
  const places = await placesOf(store, query, window + 1);
  const isCut = places.length > window;
  const looked = places.slice(0, window);
  const sessionIds = looked.map(({ sessionId }) => sessionId);
  const listed = await listSessions(store, {
    ...{ tenantId, sessionIds, stranded, limit: window },
    ...(build === undefined ? {} : { build }),
  });
  const found = new Map(listed.map((session) => [session.sessionId, session]));
  const all = looked.flatMap((place) => {
    const session = found.get(place.sessionId);
    return session === undefined ? [] : [{ ...session, place }];
  });
  const sessions = all.slice(0, limit);
  const isFull = all.length > limit;
  const end = isFull ? sessions.at(-1)?.place : isCut ? looked.at(-1) : undefined;
  return { sessions: query.from?.to === 'newer' ? sessions.reverse() : sessions, lookedUpTo: end ?? null };
}

/** Keys in the direction that was asked for. The first comparison is the index's, the second one settles ties. */
async function placesOf(store: Store, query: SessionPageQuery, limit: number): Promise<SessionPlace[]> {
  const { stranded: _, build: __, from, isAsked = false, changedWithinMs, tenantId, ...criteria } = query;
  const isBack = from?.to === 'newer';
  const conditions = conditionsOf({ tenantId, ...criteria });
  if (isAsked) {
    conditions.push([
      's.session_id in (select a.session_id from turnlock.agent_approvals a where a.tenant_id = ? and a.decision is null)',
      tenantId,
    ]);
  }
  if (changedWithinMs !== undefined) {
    conditions.push([
      `s.updated_at >= (select turnlock.turnlock_now()) - ? * interval '1 millisecond'`,
      changedWithinMs,
    ]);
  }
  if (from !== undefined) {
    const { changedMicros, sessionId } = from.place;
    const [beyond, after] = isBack ? ['>', '<'] : ['<', '>'];
    conditions.push(
      [`s.updated_at ${beyond}= ${MICROS}`, changedMicros],
      [`(s.updated_at ${beyond} ${MICROS} or s.session_id ${after} ?::uuid)`, ...[changedMicros, sessionId]],
    );
  }
  const order = isBack ? 's.updated_at, s.session_id desc' : 's.updated_at desc, s.session_id';
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      `select s.session_id, (extract(epoch from s.updated_at) * 1000000)::bigint::text as micros
         from turnlock.agent_sessions s where ${conditions.map(([sql]) => sql).join(' and ')} order by ${order} limit ?`,
      [...conditions.flatMap(([, ...values]) => values), limit],
    )) as { session_id: string; micros: string }[];
    return rows.map(({ session_id, micros }) => ({ sessionId: session_id, changedMicros: micros }));
  });
}

/** A time from its microseconds, exactly: a float of seconds would not hold them. */
const MICROS = `(timestamptz 'epoch' + ?::bigint * interval '1 microsecond')`;
