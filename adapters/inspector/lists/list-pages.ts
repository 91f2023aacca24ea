import { type Html, markup, said } from '../html.ts';
import { pageFrame } from '../page-frame.ts';
import { type PageContext, type Pages, showPage } from '../pages.ts';
import { STATE_WORDS } from '../state-badge.ts';
import { when } from '../time-text.ts';
import type { Visit } from '../visit.ts';
import { filterForm } from './filter-form.ts';
import { type Filters, filterQuery, isFiltered, readFilters } from './filters.ts';
import { countText, readOverview, readSessionList, type SessionList } from './list-sessions-page.ts';
import { sessionsTable } from './sessions-table.ts';

/** The list of sessions. */
export function listPages(pages: Pages): void {
  pages.get('/', (context) => sessionsPage(context));
}

async function sessionsPage(context: PageContext): Promise<Response> {
  const { visit } = context.env;
  const filters = readFilters(visit.query);
  const list = await readSessionList(visit, filters);
  const overview = list.isTenantWanted ? null : await overviewTiles(visit, filters, list);
  const main = markup`<div class="page-head"><div><h1>Sessions</h1></div></div>
${overview}
${filterForm(visit, filters)}
<section class="card" id="list" data-live="5" aria-label="List of sessions">
${list.isTenantWanted ? tenantChoice(visit, list) : listed(visit, filters, list)}
</section>`;
  return showPage(context, pageFrame(visit, { title: titleOf(filters), section: 'sessions', main }));
}

/** What is looked for comes first: tabs beside each other differ by it. */
function titleOf({ q, state, agent, user, tenant }: Filters): string {
  const wanted = [q, state === null ? '' : STATE_WORDS[state].text, agent, user, tenant];
  return [...wanted.filter((word) => word !== ''), 'Sessions'].join(' · ');
}

async function overviewTiles(visit: Visit, filters: Filters, { tenantIds }: SessionList): Promise<Html> {
  const now = new Date(visit.environment.now());
  const { asked, askedSince, atWork, stuck, failed } = await readOverview(visit, tenantIds);
  const tenant = filters.tenant;
  const since =
    askedSince === null ? markup`Nobody is asked anything` : markup`The oldest came ${when(askedSince, now)}`;
  return markup`<section class="tiles" id="overview" data-live="5" aria-label="What needs a look">
  <a class="tile ${asked > 0 ? 'tile-asks' : ''}" href="${visit.link('/awaiting', { tenant })}"><span class="tile-count">${countText(asked)}</span><span class="tile-name">Waiting for a person</span><span class="tile-says">${since}</span></a>
  <a class="tile ${stuck > 0 ? 'tile-bad' : ''}" href="${visit.link('/doctor', { tenant })}"><span class="tile-count">${countText(stuck)}</span><span class="tile-name">Stuck</span><span class="tile-says">Work is owed, and nobody is at it</span></a>
  <a class="tile ${failed > 0 ? 'tile-bad' : ''}" href="${visit.link('/', { tenant, state: 'FAILED', within: 'day' })}"><span class="tile-count">${countText(failed)}</span><span class="tile-name">Failed</span><span class="tile-says">In the last 24 hours</span></a>
  <div class="tile ${atWork > 0 ? 'tile-busy' : ''}"><span class="tile-count">${countText(atWork)}</span><span class="tile-name">At work</span><span class="tile-says">Planning, or running a tool</span></div>
</section>`;
}

function listed(visit: Visit, filters: Filters, list: SessionList): Html {
  const { sessions, lookedAt } = list;
  const hasTenants = visit.viewer.tenantId === null && filters.tenant === '';
  const looked =
    lookedAt === null
      ? null
      : markup`<p class="empty small muted">Looked at up to ${lookedAt} sessions of a tenant; go on for more.</p>`;
  if (sessions.length === 0) return markup`${emptyList(visit, filters)}${looked}${pager(visit, filters, list)}`;
  return markup`${sessionsTable(visit, sessions, { hasTenants })}${looked}${pager(visit, filters, list)}`;
}

function emptyList(visit: Visit, filters: Filters): Html {
  if (filters.q !== '') {
    return markup`<div class="empty"><h2>Nothing is called that</h2><p>No session, external id, user, execution, run, message or key is exactly ${said(filters.q)}. A session is also found by how its id begins, and by what its metadata hold: <code>orderId=42</code>.</p></div>`;
  }
  if (isFiltered(filters) || filters.from !== null) {
    return markup`<div class="empty"><h2>No sessions here</h2><p>Nothing fits these filters. <a href="${visit.link('/')}">Show all sessions</a></p></div>`;
  }
  return markup`<div class="empty"><h2>No sessions yet</h2><p>They appear here as soon as your service creates one: <code>runtime.createSession(…)</code></p></div>`;
}

function tenantChoice(visit: Visit, { tenantIds }: SessionList): Html {
  return markup`<div class="empty"><h2>Choose a tenant</h2><p>There are more than ${tenantIds.length} tenants, so their sessions are shown one tenant at a time. A search looks in all of them.</p>
<ul class="cluster">${tenantIds.map((tenant) => markup`<li><a class="button" href="${visit.link('/', { tenant })}">${said(tenant)}</a></li>`)}</ul></div>`;
}

function pager(visit: Visit, filters: Filters, { sessions, newer, older, isCut }: SessionList): Html | null {
  if (sessions.length === 0 && newer === null && older === null) return null;
  const more = isCut || older !== null ? ', and there are more' : '';
  const link = (name: 'newer' | 'older', place: string | null, text: string) =>
    place === null
      ? null
      : markup`<li><a class="button" rel="${name === 'older' ? 'next' : 'prev'}" href="${visit.link('/', filterQuery(filters, { [name]: place }))}">${text}</a></li>`;
  const first =
    filters.from === null
      ? null
      : markup`<li><a class="button" href="${visit.link('/', filterQuery(filters))}">Newest</a></li>`;
  return markup`<nav class="pager" aria-label="Pages of the list"><p>${sessions.length} shown${more}.</p><ul>${first}${link('newer', newer, 'Newer')}${link('older', older, 'Older')}</ul></nav>`;
}
