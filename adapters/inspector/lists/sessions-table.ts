import { type Html, inAttribute, markup, said } from '../html.ts';
import { badge, stateBadge } from '../state-badge.ts';
import { type Column, table } from '../table.ts';
import { spanText, when } from '../time-text.ts';
import { sessionLink, type Visit } from '../visit.ts';
import type { ListedSession } from './list-sessions-page.ts';

/** The list itself. */
export function sessionsTable(
  visit: Visit,
  sessions: readonly ListedSession[],
  { hasTenants }: { hasTenants: boolean },
): Html {
  const now = new Date(visit.environment.now());
  const columns: Column<ListedSession>[] = [
    { title: 'Session', is: 'title', cell: (session) => nameOf(visit, session) },
    { title: 'State', cell: (session) => signsOf(session, now) },
    {
      title: 'Agent',
      cell: ({ agent, agentVersion }) => markup`${said(agent)} <span class="muted">v${agentVersion}</span>`,
    },
    ...(hasTenants ? [{ title: 'Tenant', cell: ({ tenantId }: ListedSession) => said(tenantId) }] : []),
    { title: 'User', cell: ({ userId }) => said(userId) },
    { title: 'Changed', cell: ({ updatedAt }) => when(updatedAt, now) },
  ];
  return table('Sessions, last changed first', columns, sessions);
}

function nameOf(visit: Visit, session: ListedSession): Html {
  const { sessionId, externalId, foundBy, forkedFrom, signs } = session;
  const href = sessionLink(visit, session);
  const short = sessionId.slice(0, 8);
  const notes = [
    ...(forkedFrom === null ? [] : ['fork']),
    ...(signs?.isChild ? ['child of another session'] : []),
    ...(foundBy === undefined ? [] : [`found by ${foundBy.join(', ')}`]),
  ];
  const name = externalId === null ? markup`<span class="mono">${short}</span>` : said(externalId);
  const sub = [
    ...(externalId === null ? [] : [markup`<span class="mono">${short}</span>`]),
    ...notes.map((note) => markup`${note}`),
  ];
  return markup`<a class="cell-main" href="${href}" title="${inAttribute(sessionId)}">${name}</a>${
    sub.length === 0
      ? null
      : markup`<div class="cell-sub">${sub.map((piece, place) => markup`${place === 0 ? '' : ' · '}${piece}`)}</div>`
  }`;
}

function signsOf({ state, stranded, agentVersion, signs }: ListedSession, now: Date): Html {
  const asked = signs?.asked ?? 0;
  return markup`<div class="cluster">${stateBadge(state)}${
    asked > 1 ? badge(`${asked} questions`, 'asks') : null
  }${signs?.stuckSince ? badge(`Nobody at it for ${spanText(now.getTime() - signs.stuckSince.getTime())}`, 'bad') : null}${
    stranded === null
      ? null
      : badge(`Needs a newer ${stranded === 'agent' ? `agent: v${agentVersion}` : stranded}`, 'bad')
  }</div>`;
}
