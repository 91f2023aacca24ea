import { TurnlockError } from '../../../errors.ts';
import { SESSION_STATES, type SessionState } from '../../../machines/session-state.ts';
import type { SessionPageQuery, SessionPlace } from '../../../persistence/page-sessions.ts';
import { checkUuid } from '../../../persistence/values/check-uuid.ts';
import { checkCriteria } from '../../../runtime/check-query.ts';
import type { Visit } from '../visit.ts';

/** Times for which the list asks, by their names in addresses. */
export const WITHIN = {
  hour: { text: 'the last hour', ms: 3_600_000 },
  day: { text: 'the last 24 hours', ms: 86_400_000 },
  week: { text: 'the last 7 days', ms: 7 * 86_400_000 },
  month: { text: 'the last 30 days', ms: 30 * 86_400_000 },
} as const;

/** A name in {@link WITHIN}. */
export type Within = keyof typeof WITHIN;

/** What the list was asked for. */
export interface Filters {
  q: string;
  state: SessionState | null;
  agent: string;
  user: string;
  tenant: string;
  within: Within | null;
  /** Only what has an open question. */
  asked: boolean;
  /** Only what a newer build has gone on with. */
  stranded: boolean;
  from: SessionPageQuery['from'] | null;
}

/** Characters of a search that are looked at. */
const MAX_SEARCH_CHARACTERS = 512;

/** What an address asks for. @throws OPTIONS_INVALID for what no link or form of ours asks. */
export function readFilters(query: URLSearchParams): Filters {
  const text = (name: string) => (query.get(name) ?? '').trim();
  const [older, newer] = [query.get('older'), query.get('newer')];
  return {
    q: text('q').slice(0, MAX_SEARCH_CHARACTERS),
    state: oneOf(query, 'state', SESSION_STATES),
    agent: text('agent'),
    user: text('user'),
    tenant: text('tenant'),
    within: oneOf(query, 'within', Object.keys(WITHIN) as Within[]),
    asked: query.get('asked') === '1',
    stranded: query.get('stranded') === '1',
    from:
      older !== null
        ? { place: readPlace(older), to: 'older' }
        : newer !== null
          ? { place: readPlace(newer), to: 'newer' }
          : null,
  };
}

/** Filters as an address has them; `over` takes their place. */
export function filterQuery(
  filters: Filters,
  over: Partial<Record<keyof Filters | 'older' | 'newer', string | null>> = {},
): Record<string, string | null> {
  const { q, state, agent, user, tenant, within, asked, stranded } = filters;
  const flags = { asked: asked ? '1' : null, stranded: stranded ? '1' : null };
  return { q, state, agent, user, tenant, within, ...flags, ...over };
}

/** The criteria that the database is asked by. @throws VALUE_INVALID, VALUE_TOO_LARGE for a name that none has. */
export function criteriaOf({ state, agent, user, within, asked }: Filters, { viewer, store }: Visit) {
  const userId = viewer.userId ?? (user === '' ? undefined : user);
  const named = checkCriteria(
    { ...(agent === '' ? {} : { agent }), ...(userId === undefined ? {} : { userId }) },
    store.limits,
  );
  return {
    ...named,
    ...(state === null ? {} : { state }),
    ...(within === null ? {} : { changedWithinMs: WITHIN[within].ms }),
    ...(asked ? { isAsked: true } : {}),
  };
}

/** Whether anything but the page is asked for. */
export function isFiltered(filters: Filters): boolean {
  const { q, state, agent, user, tenant, within, asked, stranded } = filters;
  return [q, agent, user, tenant].some((text) => text !== '') || state !== null || within !== null || asked || stranded;
}

/** A place in an address: microseconds and the session. */
export function placeText({ changedMicros, sessionId }: SessionPlace): string {
  return `${changedMicros}.${sessionId}`;
}

function readPlace(text: string): SessionPlace {
  const [changedMicros = '', sessionId = ''] = text.split('.');
  if (!/^\d{1,17}$/.test(changedMicros)) throw refused('place of a page', 'one from a link of this list');
  return { changedMicros, sessionId: checkUuid(sessionId, 'sessionId') };
}

function oneOf<Name extends string>(query: URLSearchParams, name: string, known: readonly Name[]): Name | null {
  const given = query.get(name);
  if (given === null || given === '') return null;
  if ((known as readonly string[]).includes(given)) return given as Name;
  throw refused(name, known.join(', '));
}

function refused(name: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', { message: `filter not accepted: ${name} (wanted ${wanted})` });
}
