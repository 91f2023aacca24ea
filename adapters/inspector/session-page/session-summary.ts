import type { SessionOverview } from '../../../persistence/read-session-overview.ts';
import type { SessionTotals } from '../../../persistence/read-timeline.ts';
import { type Html, markup, said } from '../html.ts';
import { stateBadge } from '../state-badge.ts';
import { whenAt } from '../time-text.ts';
import type { Visit } from '../visit.ts';
import type { SessionAddress } from './session-address.ts';
import { counted, lasted, shownObject } from './shown-value.ts';

/** The head of a session's page: which it is, how it stands, and whether the page follows it. */
export function sessionHead(visit: Visit, { agent, externalId, sessionId, state }: SessionOverview): Html {
  return markup`<div class="page-head session-head">
<div><nav class="crumbs" aria-label="Above"><a href="${visit.link('/')}">Sessions</a></nav>
<h1><span class="unseen">Session of </span>${said(agent)}${externalId && markup` <span class="session-name">${said(externalId)}</span>`}</h1>
<p><code>${sessionId}</code></p></div>
<div class="cluster" id="standing">${stateBadge(state)}</div>
</div>`;
}

/** Whose it is, what it took, and where it came from. */
export function sessionFacts(overview: SessionOverview, totals: SessionTotals, address: SessionAddress): Html {
  const { userId, tenantId, agentVersion, modelId, createdAt, updatedAt, now, version, problem } = overview;
  const { parent, forkedFrom, forks, metadata } = overview;
  const { inputTokens, outputTokens } = totals;
  const isReported = inputTokens + outputTokens > 0;
  const tokens = `${inputTokens.toLocaleString('en-GB')} in, ${outputTokens.toLocaleString('en-GB')} out`;
  return markup`<section class="card" id="facts" aria-labelledby="facts-title"><h2 class="unseen" id="facts-title">Facts</h2><div class="card-body">
${problem && markup`<div class="note note-bad"><strong>${problem.code}</strong><p>${said(problem.message)}</p></div>`}
<dl class="facts">
<div><dt>User</dt><dd>${said(userId)}</dd></div><div><dt>Tenant</dt><dd>${said(tenantId)}</dd></div>
<div><dt>Agent version, model</dt><dd>${agentVersion}, ${said(modelId)}</dd></div>
<div><dt>Begun</dt><dd>${whenAt(createdAt, now)}</dd></div><div><dt>Last change</dt><dd>${whenAt(updatedAt, now)}</dd></div>
<div><dt>Transitions</dt><dd>${version.toLocaleString('en-GB')}</dd></div>
<div><dt>Turns, runs</dt><dd>${totals.turns.toLocaleString('en-GB')}, ${totals.runs.toLocaleString('en-GB')}</dd></div>
<div><dt>Tool calls</dt><dd>${totals.toolCalls.toLocaleString('en-GB')}</dd></div>
<div><dt>Model</dt><dd>${counted(totals.modelCalls, 'call')}, ${lasted(totals.latencyMs)}</dd></div>
<div><dt>Tokens</dt><dd>${isReported ? tokens : 'none reported'}</dd></div>
${parent && markup`<div><dt>Answers a call of</dt><dd><a href="${address.session(parent.sessionId)}">${parent.sessionId}</a></dd></div>`}
${forkedFrom && markup`<div><dt>Forked from</dt><dd>${forkedFrom.sessionId === null ? 'a session that was deleted' : markup`<a href="${address.session(forkedFrom.sessionId)}">${forkedFrom.sessionId}</a>`}, turn ${forkedFrom.turnIndex}</dd></div>`}
</dl>
${forks.length > 0 && markup`<details class="value"><summary>${counted(forks.length, 'fork')}</summary><ul>${forks.map(({ sessionId, turnIndex }) => markup`<li><a href="${address.session(sessionId)}">${sessionId}</a> at turn ${turnIndex}</li>`)}</ul></details>`}
${Object.keys(metadata).length > 0 && shownObject('Metadata', metadata)}
<p class="small"><a href="${address.verify}">Verify the audit and replay it</a></p>
</div></section>`;
}
