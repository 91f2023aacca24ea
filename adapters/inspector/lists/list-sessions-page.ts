import type { SessionSummary } from '../../../persistence/list-sessions.ts';
import { pageSessions, STRANDED_WINDOW } from '../../../persistence/page-sessions.ts';
import {
  MAX_COUNTED,
  readSessionSigns,
  readTenantOverview,
  type SessionSigns,
  type TenantOverview,
} from '../../../persistence/read-session-signs.ts';
import type { Visit } from '../visit.ts';
import { criteriaOf, type Filters, placeText } from './filters.ts';
import { mergePages } from './merge-pages.ts';
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
  /** Of a look for stranded sessions that ended before all were compared: how many of a tenant are compared at the most. */
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

/** The page of several tenants: that of each, in one order. */
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
  const pages = [];
  for (const tenantId of tenantIds) pages.push(await pageSessions(store, { tenantId, ...query }));
  const { sessions, newer, older, isLookCut } = mergePages(pages, { from: from ?? null, limit: PAGE_SIZE });
  return {
    sessions: await withSigns(visit, sessions),
    newer: newer === null ? null : placeText(newer),
    older: older === null ? null : placeText(older),
    lookedAt: stranded && isLookCut ? STRANDED_WINDOW : null,
  };
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
