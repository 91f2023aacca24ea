import { readPresentWork } from '../../../persistence/read-present-calls.ts';
import type { SessionOverview } from '../../../persistence/read-session-overview.ts';
import { readSessionTotals, readTimeline, type Timeline } from '../../../persistence/read-timeline.ts';
import { readTransitions } from '../../../persistence/read-transitions.ts';
import { explainSession } from '../../../runtime/explain/explain-session.ts';
import { assetPath } from '../assets/assets.ts';
import { type Html, markup } from '../html.ts';
import { pageFrame } from '../page-frame.ts';
import type { Visit } from '../visit.ts';
import { chartPanel } from './chart-panel.ts';
import { readSequence } from './follow-stream.ts';
import { addressOf } from './session-address.ts';
import { sessionFacts, sessionHead } from './session-summary.ts';
import { ENTRIES_PER_PAGE, timelineItems, timelineSection } from './timeline-section.ts';
import { waitingPanel } from './waiting-panel.ts';

/** Whether the page follows its session, and what came below the window; the script shows it. */
const FOLLOW = markup`<div class="follow" id="follow" hidden><span class="follow-state" id="follow-state">Live</span><a id="follow-new" hidden href="#timeline"></a><span class="unseen" id="follow-says" role="status" aria-live="polite"></span></div>`;

/** The page of a session: how it stands, what it waits for, and a page of its timeline; the last one unless the query names another. */
export async function sessionPage(visit: Visit, overview: SessionOverview): Promise<Html> {
  const address = addressOf(visit, overview);
  const { timeline, hasOneBefore } = await readPage(visit, overview);
  const totals = await readSessionTotals(visit.store, overview);
  const main = markup`${sessionHead(visit, overview)}
<div class="session">
${await presentPanels(visit, overview)}
<div class="session-rest">
${sessionFacts(overview, totals, address)}
${timelineSection(address, { timeline, hasOneBefore, version: overview.version })}
</div></div>
<script src="${visit.link(assetPath('follow.js'))}" defer></script>`;
  const title = `${overview.state} · ${overview.agent} · ${overview.externalId ?? overview.sessionId}`;
  return pageFrame(visit, { title, section: 'sessions', main, inSight: FOLLOW });
}

/** What of the page changes with each transition, as a piece of it: how it stands, and the entries after `after`. */
export async function sessionUpdate(visit: Visit, overview: SessionOverview, after: number): Promise<Html> {
  const address = addressOf(visit, overview);
  const read = await readAfter(visit, overview, after);
  const items = timelineItems(address, { ...read, version: overview.version });
  return markup`${sessionHead(visit, overview)}${await presentPanels(visit, overview)}${sessionFacts(overview, await readSessionTotals(visit.store, overview), address)}<ol id="timeline">${items}</ol><span id="timeline-version">${overview.version.toLocaleString('en-GB')}</span>`;
}

/** What it waits for, and the chart. */
async function presentPanels(visit: Visit, overview: SessionOverview): Promise<Html> {
  const { store, build } = visit;
  const explanation = await explainSession({ store, build }, overview);
  const { calls, messages } = await readPresentWork(store, overview);
  const [last = null] = await readTransitions(store, overview, { after: Math.max(0, overview.version - 1), limit: 1 });
  return markup`${waitingPanel(explanation, visit, addressOf(visit, overview), messages)}${chartPanel(overview.state, last, calls)}`;
}

interface ReadPage {
  timeline: Timeline;
  hasOneBefore: boolean;
}

async function readPage(visit: Visit, overview: SessionOverview): Promise<ReadPage> {
  const before = readSequence(visit.query.get('before'));
  const after = readSequence(visit.query.get('after'));
  if (after !== null) return readAfter(visit, overview, after);
  const last = before === null ? overview.version : Math.min(before - 1, overview.version);
  return readAfter(visit, overview, Math.max(0, last - ENTRIES_PER_PAGE), last);
}

/** With the entry before them, which says what run they go on with, and how long nothing happened. */
async function readAfter(
  { store }: Visit,
  overview: SessionOverview,
  after: number,
  upTo = after + ENTRIES_PER_PAGE,
): Promise<ReadPage> {
  // What was committed since is left for the next look, so that the state above is that after the last entry.
  const last = Math.min(upTo, overview.version);
  const hasOneBefore = after > 0;
  const from = hasOneBefore ? after - 1 : 0;
  const timeline = await readTimeline(store, overview, { after: from, limit: Math.max(0, last - from) });
  return { timeline, hasOneBefore: hasOneBefore && timeline.entries.length > 0 };
}
