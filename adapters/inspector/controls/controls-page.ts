import { listControls, type StoredControl } from '../../../persistence/operate-controls.ts';
import type { BudgetUnit, Control } from '../../../persistence/read-controls.ts';
import { readTenantControls } from '../../../persistence/read-tenant-controls.ts';
import { checkTenant } from '../../../runtime/check-query.ts';
import { type Html, markup, said } from '../html.ts';
import { pageFrame } from '../page-frame.ts';
import { type PageContext, type Pages, showPage } from '../pages.ts';
import { refuseUsers } from '../refuse-users.ts';
import { badge } from '../state-badge.ts';
import { table } from '../table.ts';
import { at } from '../time-text.ts';
import type { Visit } from '../visit.ts';

/** Freezes and budgets, to be read. */
export function controlsPages(pages: Pages): void {
  pages.get('/controls', (context) => controlsPage(context));
}

async function controlsPage(context: PageContext): Promise<Response> {
  const { visit } = context.env;
  refuseUsers(visit);
  const named = visit.query.get('tenant');
  const tenantId = visit.viewer.tenantId ?? (named === null || named === '' ? null : checkTenant(named));
  const [count, shown] =
    tenantId === null
      ? ofAll(visit, await listControls(visit.store))
      : ofTenant(await readTenantControls(visit.store, tenantId));
  const of =
    tenantId === null ? null : markup`<p>What concerns tenant ${said(tenantId)}, and what it has used today.</p>`;
  const main = markup`<div class="page-head"><div><h1>Controls</h1><p>Frozen tools and budgets. Every call that is about to start is held against them; one that they hold waits for a person.</p>${of}</div></div>
${visit.viewer.tenantId === null ? tenantForm(visit, tenantId) : null}
<section class="card" aria-label="Freezes and budgets">${count === 0 ? nothing() : shown}</section>`;
  return showPage(
    context,
    pageFrame(visit, { title: tenantId === null ? 'Controls' : `Controls · ${tenantId}`, section: 'controls', main }),
  );
}

function tenantForm(visit: Visit, tenantId: string | null): Html {
  return markup`<form class="card filters" method="get" action="${visit.link('/controls')}"><div class="filter-row">
  <label class="label">What a tenant has used<input class="field" name="tenant" value="${tenantId ?? ''}" maxlength="64" required placeholder="Tenant"></label>
  <button class="button" type="submit">Show</button>${tenantId === null ? null : markup`<a class="button" href="${visit.link('/controls')}">All tenants</a>`}
</div></form>`;
}

function nothing(): Html {
  return markup`<div class="empty"><h2>Nothing is frozen or budgeted</h2><p><code>turnlock freeze --tool refund</code> holds every start of a tool; <code>turnlock budget --all-tools --calls 1000</code> bounds a day.</p></div>`;
}

function ofAll(_visit: Visit, controls: readonly StoredControl[]): [number, Html] {
  return [
    controls.length,
    table<StoredControl>(
      'Freezes and budgets of all tenants',
      [
        { title: 'Tool', is: 'title', cell: ({ toolName }) => toolCell(toolName) },
        { title: 'Kind', cell: ({ kind }) => kindBadge(kind) },
        {
          title: 'Tenant',
          cell: ({ tenantId }) => (tenantId === null ? markup`<span class="muted">each</span>` : said(tenantId)),
        },
        { title: 'A day', is: 'number', cell: ({ unit, dailyLimit }) => amountText(unit, dailyLimit) },
        { title: 'Since', cell: ({ createdAt }) => at(createdAt) },
        { title: 'By', cell: ({ createdBy }) => said(createdBy) },
        { title: 'Reason', cell: ({ reason }) => (reason === null ? '' : said(reason)) },
      ],
      controls,
    ),
  ];
}

function ofTenant(controls: readonly Control[]): [number, Html] {
  return [
    controls.length,
    table<Control>(
      'Freezes and budgets of the tenant',
      [
        { title: 'Tool', is: 'title', cell: ({ toolName }) => toolCell(toolName) },
        { title: 'Kind', cell: ({ kind }) => kindBadge(kind) },
        { title: 'Used today', cell: usedCell },
        { title: 'Reason', cell: ({ reason }) => (reason === null ? '' : said(reason)) },
      ],
      controls,
    ),
  ];
}

function usedCell({ kind, unit, used, dailyLimit, toolName }: Control): Html {
  if (kind === 'freeze') return markup`<span class="muted">no call starts</span>`;
  const name = `Used of the budget of ${toolName ?? 'every tool'}`;
  const isOver = used >= dailyLimit;
  return markup`<div class="cluster"><progress max="${Math.max(dailyLimit, 1)}" value="${Math.min(used, Math.max(dailyLimit, 1))}" aria-label="${name}"></progress><span>${amountText(unit, used)} of ${amountText(unit, dailyLimit)}</span>${isOver ? badge('Used up', 'bad') : null}</div>`;
}

function toolCell(toolName: string | null): Html {
  return toolName === null ? markup`Every tool` : markup`<span class="mono">${said(toolName)}</span>`;
}

function kindBadge(kind: 'freeze' | 'budget'): Html {
  return kind === 'freeze' ? badge('Frozen', 'bad') : badge('Budget', 'quiet');
}

function amountText(unit: BudgetUnit | null, amount: number | null): string {
  if (amount === null || unit === null) return '';
  return unit === 'microMoney' ? `${(amount / 1_000_000).toFixed(2)} money` : `${amount.toLocaleString('en')} ${unit}`;
}
