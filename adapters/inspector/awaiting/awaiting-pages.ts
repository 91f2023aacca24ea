import { ROUND_KINDS } from '../../../persistence/entities/agent-approval.entity.ts';
import { type Awaiting, type AwaitingQuery, listAwaiting } from '../../../persistence/list-awaiting.ts';
import { checkUuid } from '../../../persistence/values/check-uuid.ts';
import { type Html, markup, said } from '../html.ts';
import { pageFrame } from '../page-frame.ts';
import { type PageContext, type Pages, showPage } from '../pages.ts';
import type { Visit } from '../visit.ts';
import { ASKED_WORDS, askedCall } from './asked-call.ts';
import { decideRoutes } from './decide-route.ts';

/** Questions on one page. */
const PAGE_SIZE = 20;

/** What waits for a person, and the decisions about it. */
export function awaitingPages(pages: Pages): void {
  pages.get('/awaiting', (context) => awaitingPage(context));
  decideRoutes(pages);
}

async function awaitingPage(context: PageContext): Promise<Response> {
  const { visit } = context.env;
  const tenant = visit.query.get('tenant');
  const reason = ROUND_KINDS.find((kind) => kind === visit.query.get('reason')) ?? null;
  const { asked, after, isTenantWanted, tenantIds } = await readAsked(visit, { tenant, reason });
  const main = markup`<div class="page-head"><div><h1>Waiting for a person</h1><p>What was asked first stands first. A decision is bound to what you see here.</p></div></div>
${reasonNav(visit, tenant, reason)}
<section class="card" id="asked" data-live="5" aria-labelledby="asked-title"><h2 class="unseen" id="asked-title">Questions</h2>${
    isTenantWanted
      ? tenantChoice(visit, tenantIds)
      : asked.length === 0
        ? nothingAsked(visit, reason)
        : asked.map((one) => askedCall(visit, one))
  }${after === null ? null : markup`<nav class="pager" aria-label="Pages of the list"><p>${asked.length} shown, and there are more.</p><ul><li><a class="button" rel="next" href="${visit.link('/awaiting', { tenant, reason, after: after.approvalId, of: after.tenantId })}">Later ones</a></li></ul></nav>`}
</section>`;
  return showPage(context, pageFrame(visit, { title: titleOf(reason, tenant), section: 'awaiting', main }));
}

function titleOf(reason: Awaiting['reason'] | null, tenant: string | null): string {
  return [
    ...(reason === null ? [] : [`${ASKED_WORDS[reason].word}s`]),
    'Waiting for a person',
    ...(tenant === null || tenant === '' ? [] : [tenant]),
  ].join(' · ');
}

interface Asked {
  asked: Awaiting[];
  /** The last one, where there are more. */
  after: Awaiting | null;
  isTenantWanted: boolean;
  tenantIds: string[];
}

/** Of several tenants each is read to its end before the next one: within a tenant the order is that of asking. */
async function readAsked(
  visit: Visit,
  { tenant, reason }: { tenant: string | null; reason: Awaiting['reason'] | null },
): Promise<Asked> {
  const { store, viewer, query, tenants } = visit;
  const { tenantIds, isCut } = await tenants.choose(viewer, tenant);
  if (isCut) return { asked: [], after: null, isTenantWanted: true, tenantIds };
  const after = query.get('after');
  const of = query.get('of');
  const asked: Awaiting[] = [];
  const from = after !== null && of !== null && tenantIds.includes(of) ? tenantIds.indexOf(of) : 0;
  for (const [place, tenantId] of tenantIds.slice(from).entries()) {
    const wanted: AwaitingQuery = {
      tenantId,
      limit: PAGE_SIZE + 1 - asked.length,
      ...(viewer.userId == null ? {} : { userId: viewer.userId }),
      ...(reason === null ? {} : { reason }),
      ...(place === 0 && after !== null ? { after: checkUuid(after, 'after') } : {}),
    };
    asked.push(...(await listAwaiting(store, wanted)));
    if (asked.length > PAGE_SIZE) break;
  }
  const shown = asked.slice(0, PAGE_SIZE);
  return {
    asked: shown,
    after: asked.length > PAGE_SIZE ? (shown.at(-1) ?? null) : null,
    isTenantWanted: false,
    tenantIds,
  };
}

function reasonNav(visit: Visit, tenant: string | null, current: Awaiting['reason'] | null): Html {
  const entry = (reason: Awaiting['reason'] | null, text: string) =>
    markup`<li><a class="button" href="${visit.link('/awaiting', { tenant, reason })}"${current === reason ? markup` aria-current="true"` : null}>${text}</a></li>`;
  return markup`<nav aria-label="Kinds of questions"><ul class="cluster">${entry(null, 'All')}${ROUND_KINDS.map((kind) => entry(kind, `${ASKED_WORDS[kind].word}s`))}</ul></nav>`;
}

function nothingAsked(visit: Visit, reason: Awaiting['reason'] | null): Html {
  return markup`<div class="empty"><h2>Nobody is asked anything</h2><p>${
    reason === null
      ? 'Approvals, questions of agents and outcomes that nobody knows appear here.'
      : markup`Nothing of this kind waits. <a href="${visit.link('/awaiting')}">Show all kinds</a>`
  }</p></div>`;
}

function tenantChoice(visit: Visit, tenantIds: readonly string[]): Html {
  return markup`<div class="empty"><h2>Choose a tenant</h2><p>There are more than ${tenantIds.length} tenants, so they are shown one at a time.</p>
<ul class="cluster">${tenantIds.map((tenant) => markup`<li><a class="button" href="${visit.link('/awaiting', { tenant })}">${said(tenant)}</a></li>`)}</ul></div>`;
}
