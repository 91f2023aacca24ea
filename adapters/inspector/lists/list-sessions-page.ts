import type { SessionSummary } from '../../../persistence/list-sessions.ts';
import { pageSessions, type SessionPlace, STRANDED_WINDOW } from '../../../persistence/page-sessions.ts';
import {
  MAX_COUNTED,
  readSessionSigns,
  readTenantOverview,
  type SessionSigns,
  type TenantOverview,
} from '../../../persistence/read-session-signs.ts';
import type { Visit } from '../visit.ts';
import { criteriaOf, type Filters, placeText } from './filters.ts';
import { search } from './search.ts';

/** Sessions on one page. */
const PAGE_SIZE = 50;

/** For how long work may be owed with nobody at it before the list says so. As doctor does where it is not told otherwise. */
export const STUCK_AFTER_MS = 60_000;

/** A line of the list. */
export interface ListedSession extends SessionSummary {
  signs: SessionSigns | null;
  /** Of a search: what named it. */
  foundBy?: string[];
}

/** What the list shows. */
export interface SessionList {
  sessions: ListedSession[];
  /** Places to go on from, as an address has them; `null` where there is nothing there. */
  newer: string | null;
  older: string | null;
  /** Of a search: whether more were found than are shown. */
  isCut: boolean;
  /** Of a look for stranded sessions: how many were looked at before it ended, if it did not look at all. */
  lookedAt: number | null;
  /** Whether there are more tenants than are looked at together. */
  isTenantWanted: boolean;
  tenantIds: string[];
}

/** Reads the page that was asked for. */
export async function readSessionList(visit: Visit, filters: Filters): Promise<SessionList> {
  const { tenantIds, isCut: isTenantWanted } = await visit.tenants.choose(visit.viewer, filters.tenant);
  if (filters.q !== '') {
    const { sessions, hasMore } = await search(visit, filters);
    const rest = { newer: null, older: null, isCut: hasMore, lookedAt: null, isTenantWanted: false, tenantIds };
    return { sessions: await withSigns(visit, sessions), ...rest };
  }
  if (isTenantWanted) {
    return { sessions: [], newer: null, older: null, isCut: false, lookedAt: null, isTenantWanted, tenantIds };
  }
  return { ...(await readPage(visit, filters, tenantIds)), isCut: false, isTenantWanted, tenantIds };
}

/** The page of several tenants: that of each, in one order, cut where the page ends. */
async function readPage(visit: Visit, filters: Filters, tenantIds: readonly string[]) {
  const { store, build } = visit;
  const { from, stranded } = filters;
  const query = {
    ...criteriaOf(filters, visit),
    stranded,
    limit: PAGE_SIZE,
    ...(build && { build }),
    ...(from && { from }),
  };
  const found = [];
  for (const tenantId of tenantIds) found.push(await pageSessions(store, { tenantId, ...query }));
  const isBack = from?.to === 'newer';
  const all = found.flatMap(({ sessions }) => sessions).sort((a, b) => compare(a.place, b.place));
  const shown = isBack ? all.slice(-PAGE_SIZE) : all.slice(0, PAGE_SIZE);
  const hasMore = found.some((page) => page.hasMore) || all.length > shown.length;
  const [first, last] = [shown[0]?.place, shown.at(-1)?.place];
  // A look for what is stranded ends somewhere, also where it found nothing.
  const end = stranded ? found.map(({ lookedUpTo }) => lookedUpTo).find((place) => place !== null) : null;
  const [hasNewer, hasOlder] = isBack ? [hasMore, true] : [from != null, hasMore];
  const newer = first ?? (isBack ? undefined : from?.place);
  const older = (all.length > shown.length ? last : (end ?? last)) ?? (isBack ? from?.place : undefined);
  return {
    sessions: await withSigns(visit, shown),
    newer: hasNewer && newer !== undefined ? placeText(newer) : null,
    older: hasOlder && older !== undefined ? placeText(older) : null,
    lookedAt: end == null ? null : STRANDED_WINDOW,
  };
}

/** Last changed first, then by id, as the database orders them. */
function compare(a: SessionPlace, b: SessionPlace): number {
  const [one, other] = [BigInt(a.changedMicros), BigInt(b.changedMicros)];
  if (one !== other) return one < other ? 1 : -1;
  return a.sessionId < b.sessionId ? -1 : 1;
}

async function withSigns(
  { store }: Visit,
  sessions: readonly (SessionSummary & { foundBy?: string[] })[],
): Promise<ListedSession[]> {
  const signs = new Map<string, SessionSigns>();
  for (const [tenantId, own] of Map.groupBy(sessions, (session) => session.tenantId)) {
    const sessionIds = own.map(({ sessionId }) => sessionId);
    const read = await readSessionSigns(store, { tenantId, sessionIds, stuckAfterMs: STUCK_AFTER_MS });
    for (const [sessionId, sign] of read) signs.set(sessionId, sign);
  }
  return sessions.map((session) => ({ ...session, signs: signs.get(session.sessionId) ?? null }));
}

/** What needs a look, of all tenants that are shown. */
export async function readOverview({ store, viewer }: Visit, tenantIds: readonly string[]): Promise<TenantOverview> {
  const sum: TenantOverview = { asked: 0, askedSince: null, atWork: 0, stuck: 0, failed: 0 };
  for (const tenantId of tenantIds) {
    const one = await readTenantOverview(store, {
      tenantId,
      userId: viewer.userId ?? null,
      stuckAfterMs: STUCK_AFTER_MS,
    });
    sum.asked += one.asked;
    sum.atWork += one.atWork;
    sum.stuck += one.stuck;
    sum.failed += one.failed;
    if (one.askedSince !== null && (sum.askedSince === null || one.askedSince < sum.askedSince))
      sum.askedSince = one.askedSince;
  }
  return sum;
}

/** A count as people may take it: beyond where counting ended it says so. */
export function countText(count: number): string {
  return count >= MAX_COUNTED ? `${MAX_COUNTED}+` : String(count);
}
