import { verifySession } from '../../../persistence/audit/verify-session.ts';
import type { SessionOverview } from '../../../persistence/read-session-overview.ts';
import { type Html, markup, said } from '../html.ts';
import { pageFrame } from '../page-frame.ts';
import { stateBadge } from '../state-badge.ts';
import type { Visit } from '../visit.ts';
import { addressOf } from './session-address.ts';
import { counted } from './shown-value.ts';

/** What comes of verifying a session's audit, and of replaying it. */
export async function verifyPage(visit: Visit, overview: SessionOverview): Promise<Html> {
  const address = addressOf(visit, overview);
  const { head, erased, findings, folded, skipped, loss, transitions } = await verifySession(visit.store, overview);
  const isSound = findings.length === 0;
  const main = markup`<div class="page-head session-head"><div>
<nav class="crumbs" aria-label="Above"><a href="${visit.link('/')}">Sessions</a> / <a href="${address.page({})}">${said(overview.agent)}</a></nav>
<h1>Verification</h1><p><code>${overview.sessionId}</code></p></div>${stateBadge(overview.state)}</div>
<section class="note ${isSound ? 'note-good' : 'note-bad'}" role="status"><h2>${isSound ? 'All of it is as it should be' : counted(findings.length, 'finding')}</h2>
<p>Hash chain, payloads, turns and outcomes of ${counted(transitions, 'transition')} against their digests, and the fold of the recorded events against every state and the snapshot.</p></section>
<section class="card" aria-labelledby="found-title"><div class="card-head"><h2 id="found-title">What was looked at</h2></div><div class="card-body">
<dl class="facts"><div><dt>Transitions</dt><dd>${transitions.toLocaleString('en-GB')}</dd></div><div><dt>Folded</dt><dd>${folded.toLocaleString('en-GB')}</dd></div><div><dt>Passed over</dt><dd>${skipped.toLocaleString('en-GB')}${loss && markup`: ${loss}`}</dd></div><div><dt>Erased payloads</dt><dd>${erased.toLocaleString('en-GB')}</dd></div></dl>
<dl class="small"><div><dt class="muted">Head of the chain, to anchor elsewhere: transition ${head.sequence}</dt><dd class="head-hash"><code>${said(head.hash)}</code></dd></div></dl>
${!isSound && markup`<ul class="findings">${findings.map(({ code, sequence, found, wanted }) => markup`<li><strong><code>${code}</code></strong> ${sequence === null ? 'the session' : markup`<a href="${address.moment(sequence)}">transition ${sequence}</a>`}<p class="small">Found ${said(found)}, wanted ${said(wanted)}</p></li>`)}</ul>`}
<p><a class="button" href="${address.verify}">Verify again</a> <a class="button" href="${address.page({})}">Back to the session</a></p>
</div></section>`;
  return pageFrame(visit, { title: `Verification · ${overview.sessionId}`, section: 'sessions', main });
}
