import type { DoctorFinding } from '../../../runtime/doctor/doctor-finding.ts';
import { commandText } from '../../cli/settle-commands.ts';
import { type Html, markup, said } from '../html.ts';
import { badge } from '../state-badge.ts';
import { sessionLink, type Visit } from '../visit.ts';

/** One finding: what is wrong, where, and what repairs it. */
export function findingArticle(visit: Visit, finding: DoctorFinding): Html {
  const { code, severity, says, place, found, wanted, repair, commands } = finding;
  return markup`<article class="card"><div class="card-head"><h2>${says}</h2><div class="cluster">${
    severity === 'error' ? badge('Error', 'bad') : badge('Warning', 'asks')
  }<code>${code}</code></div></div><div class="card-body">
  <dl class="facts">
    ${whereOf(visit, finding)}
    ${place === null ? null : markup`<div><dt>Place</dt><dd>${said(place)}</dd></div>`}
    <div><dt>Found</dt><dd>${said(found)}</dd></div>
    <div><dt>Wanted</dt><dd>${said(wanted)}</dd></div>
  </dl>
  <p><strong>Repair:</strong> ${repair}</p>
  ${commands.length === 0 ? null : markup`<pre class="payload" tabindex="0" role="group" aria-label="Commands">${commands.map((words) => markup`${said(commandText(words, {}))}\n`)}</pre>`}
</div></article>\n`;
}

function whereOf(visit: Visit, { tenantId, sessionId }: DoctorFinding): Html {
  if (tenantId === null || sessionId === null) return markup`<div><dt>Where</dt><dd>The database</dd></div>`;
  const tenant = visit.viewer.tenantId === null ? markup`<div><dt>Tenant</dt><dd>${said(tenantId)}</dd></div>` : null;
  return markup`<div><dt>Session</dt><dd><a class="mono" href="${sessionLink(visit, { tenantId, sessionId })}">${sessionId.slice(0, 8)}</a></dd></div>${tenant}`;
}
