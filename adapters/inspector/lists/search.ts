import { type CrossingCriterion, findAcrossTenants } from '../../../persistence/find-across-tenants.ts';
import { findByIdPrefix, isIdPrefix } from '../../../persistence/find-by-id-prefix.ts';
import {
  listSessions,
  type SessionCriteria,
  type SessionSummary,
  type SessionsQuery,
} from '../../../persistence/list-sessions.ts';
import { checkUuid } from '../../../persistence/values/check-uuid.ts';
import { checkCriteria } from '../../../runtime/check-query.ts';
import { isNoName } from '../tenants.ts';
import type { Visit } from '../visit.ts';
import { criteriaOf, type Filters } from './filters.ts';

/** What a search found. */
export interface SearchResult {
  sessions: (SessionSummary & { foundBy: string[] })[];
  /** Whether there may be more than are shown. */
  hasMore: boolean;
}

/** Sessions that a search shows. */
const MAX_FOUND = 50;

/** One way in which a text may name a session. */
interface Way {
  by: string;
  criterion: SessionCriteria & { sessionId?: string };
}

/**
 * Sessions that a text names: by their id or its beginning, an execution, a run, a key, an id of the caller's, a message, a user, or what
 * their metadata hold, as `name=value`. Each way has its index. The other filters hold too.
 */
export async function search(visit: Visit, filters: Filters): Promise<SearchResult> {
  const found = new Map<string, SessionSummary & { foundBy: string[] }>();
  let hasMore = false;
  for (const { by, criterion } of waysOf(visit, filters.q)) {
    const sessions = await findBy(visit, filters, criterion);
    hasMore ||= sessions.length > MAX_FOUND;
    for (const session of sessions.slice(0, MAX_FOUND)) {
      const known = found.get(session.sessionId);
      if (known === undefined) found.set(session.sessionId, { ...session, foundBy: [by] });
      else known.foundBy.push(by);
    }
  }
  const sessions = [...found.values()].sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime());
  return { sessions: sessions.slice(0, MAX_FOUND), hasMore: hasMore || sessions.length > MAX_FOUND };
}

function waysOf({ store }: Visit, q: string): Way[] {
  const checked = (by: string, criterion: SessionCriteria): Way[] => {
    try {
      return [{ by, criterion: checkCriteria(criterion, store.limits) }];
    } catch (error) {
      if (isNoName(error)) return []; // no session can have it
      throw error;
    }
  };
  const id = readUuid(q);
  const metadata = readPair(q);
  return [
    ...(id === null
      ? []
      : [
          { by: 'session', criterion: { sessionId: id } },
          { by: 'execution', criterion: { executionId: id } },
          { by: 'run', criterion: { runId: id } },
        ]),
    ...(isIdPrefix(q) ? [{ by: 'session', criterion: { sessionId: q } }] : []),
    ...checked('external id', { externalId: q }),
    ...checked('message', { messageId: q }),
    ...checked('key', { idempotencyKey: q }),
    ...checked('user', { userId: q }),
    ...(metadata === null ? [] : checked('metadata', { metadata })),
  ];
}

async function findBy(
  visit: Visit,
  filters: Filters,
  { sessionId, ...criterion }: Way['criterion'],
): Promise<SessionSummary[]> {
  const { store, viewer, build } = visit;
  const { changedWithinMs: _, isAsked: __, ...filtered } = criteriaOf(filters, visit);
  // A user that is searched for and one that is filtered by must be the same one.
  if (filtered.userId !== undefined && criterion.userId !== undefined && filtered.userId !== criterion.userId)
    return [];
  const more = { ...criterion, ...filtered, stranded: filters.stranded, limit: MAX_FOUND + 1, ...(build && { build }) };
  const tenant = viewer.tenantId ?? (filters.tenant === '' ? null : filters.tenant);
  if (tenant !== null) return ofTenant(visit, { tenantId: tenant, ...more }, sessionId);
  const crossing = crossingOf(criterion, sessionId);
  if (crossing === null) return ofTenants(visit, more, sessionId);
  const keys = await findAcrossTenants(store, crossing, MAX_FOUND + 1);
  const found: SessionSummary[] = [];
  for (const [tenantId, own] of Map.groupBy(keys, (key) => key.tenantId)) {
    found.push(...(await listSessions(store, { tenantId, ...more, sessionIds: own.map((key) => key.sessionId) })));
  }
  return found;
}

/** What the database can look for across tenants; `null` for a user, or how an id begins: those are asked for tenant by tenant. */
function crossingOf(criterion: SessionCriteria, sessionId: string | undefined): CrossingCriterion | null {
  if (sessionId !== undefined) return isIdPrefix(sessionId) ? null : { sessionId };
  return criterion.userId === undefined ? (criterion as CrossingCriterion) : null;
}

async function ofTenants(
  visit: Visit,
  more: Omit<SessionsQuery, 'tenantId'>,
  sessionId: string | undefined,
): Promise<SessionSummary[]> {
  const { tenantIds } = await visit.tenants.choose(visit.viewer, null);
  const found: SessionSummary[] = [];
  for (const tenantId of tenantIds) found.push(...(await ofTenant(visit, { tenantId, ...more }, sessionId)));
  return found;
}

async function ofTenant(
  { store }: Visit,
  query: SessionsQuery,
  sessionId: string | undefined,
): Promise<SessionSummary[]> {
  if (sessionId === undefined) return listSessions(store, query);
  const { tenantId, limit } = query;
  const sessionIds = isIdPrefix(sessionId)
    ? await findByIdPrefix(store, { tenantId, prefix: sessionId, limit })
    : [sessionId];
  return listSessions(store, { ...query, sessionIds });
}

function readUuid(text: string): string | null {
  try {
    return checkUuid(text, 'id');
  } catch {
    return null;
  }
}

/** `orderId=42` as metadata: the value is JSON where it is JSON, else text. */
function readPair(text: string): { [name: string]: string | number | boolean | null } | null {
  const place = text.indexOf('=');
  if (place < 1) return null;
  const [name, value] = [text.slice(0, place).trim(), text.slice(place + 1).trim()];
  try {
    return { [name]: JSON.parse(value) };
  } catch {
    return { [name]: value };
  }
}
