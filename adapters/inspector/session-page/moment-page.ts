import type { Fold } from '../../../machines/fold-transitions.ts';
import { SESSION_MACHINE_VERSION } from '../../../machines/session.machine.ts';
import { encodeSnapshot, type SessionSnapshot } from '../../../machines/snapshot-codec.ts';
import { type FoldedAt, foldSessionAt } from '../../../persistence/fold-session-at.ts';
import { readCalls } from '../../../persistence/read-present-calls.ts';
import type { SessionOverview } from '../../../persistence/read-session-overview.ts';
import { readTimeline, readTurnsBefore, type Timeline } from '../../../persistence/read-timeline.ts';
import { assetPath } from '../assets/assets.ts';
import { type Html, markup, said } from '../html.ts';
import { pageFrame } from '../page-frame.ts';
import { stateBadge } from '../state-badge.ts';
import { at } from '../time-text.ts';
import type { Visit } from '../visit.ts';
import { type CallNames, callsIn, changesBetween } from './changes-between.ts';
import { chartPanel } from './chart-panel.ts';
import { keepFold, keptFold } from './kept-folds.ts';
import { addressOf, type SessionAddress } from './session-address.ts';
import { counted, shownObject } from './shown-value.ts';
import { timelineEntry, turnBlock, way } from './timeline-entry.ts';

/** How many turns of then are shown, how many transitions around the present one, and how much of a value that changed. */
const TURNS = 12;
const NEAR = 6;
const MAX_CHANGE_CHARACTERS = 300;

/** A session as it was after a transition; `null` where it has none of that sequence. */
export async function momentPage(
  visit: Visit,
  overview: SessionOverview,
  sequence: number | null,
): Promise<Html | null> {
  if (sequence === null || sequence < 1 || sequence > overview.version) return null;
  const { store } = visit;
  const from = keptFold(store, overview, sequence);
  const keep = (one: FoldedAt) => keepFold(store, overview, one);
  const folded = await foldSessionAt(store, overview, { sequence, from, keep });
  if (folded === null) return null;
  const first = Math.max(0, sequence - NEAR - 1);
  const near = await readTimeline(store, overview, { after: first, limit: NEAR * 2 + 1 });
  const entry = near.entries.find(({ transition }) => transition.sequence === sequence);
  if (entry === undefined) return null;
  const snapshot = snapshotOf(folded.after);
  const open = [...callsIn(snapshotOf(folded.before)), ...callsIn(snapshot)];
  const named = await readCalls(
    store,
    overview,
    open.map(({ executionId }) => executionId),
  );
  const turnIndex = nextTurnIndex(snapshot) ?? lastTurnBefore(near, sequence);
  const turns = turnIndex === null ? [] : await readTurnsBefore(store, overview, { turnIndex, limit: TURNS });
  const address = addressOf(visit, overview);
  const { transition } = entry;
  const before = near.entries.find((one) => one.transition.sequence === sequence - 1) ?? null;
  const main = markup`<div class="page-head session-head"><div>
<nav class="crumbs" aria-label="Above"><a href="${visit.link('/')}">Sessions</a> / <a href="${address.page({})}">${said(overview.agent)}</a></nav>
<h1>As it was after ${sequence.toLocaleString('en-GB')} of ${counted(overview.version, 'transition')}</h1><p>${at(transition.createdAt)} · <code>${overview.sessionId}</code></p></div>
${stateBadge(transition.to)}</div>
${travelBar(address, sequence, overview.version)}
<div class="session moment">
${chartPanel(transition.to, transition, chipsOf(snapshot, named))}
<div class="session-rest"><section class="card" aria-labelledby="changed-title"><div class="card-head"><h2 id="changed-title">What this transition changed</h2></div><div class="card-body">${changes(folded, named)}</div></section>
<section class="card timeline-card" aria-labelledby="this-title"><div class="card-head"><h2 id="this-title">The transition</h2></div><ol class="timeline">${timelineEntry(entry, { timeline: near, before, address })}</ol></section>
<section class="card" aria-labelledby="turns-title"><div class="card-head"><h2 id="turns-title">The conversation then</h2><span class="muted small">${turnIndex === null ? 'unknown' : counted(turnIndex, 'turn')}</span></div><div class="card-body">
${turnIndex !== null && turnIndex > turns.length && markup`<p class="muted small">The last ${turns.length}.</p>`}
${turns.length === 0 && markup`<p class="muted">No turn yet.</p>`}${turns.map((turn) => turnBlock(turn))}</div></section>
<section class="card" aria-labelledby="near-title"><div class="card-head"><h2 id="near-title">Before and after</h2></div><ol class="near">${near.entries.map((one) => nearItem(address, one, sequence))}</ol></section>
<section class="card" aria-labelledby="snapshot-title"><div class="card-head"><h2 id="snapshot-title">Snapshot, folded from the recorded events</h2></div><div class="card-body">${snapshotPart(folded.after, snapshot)}</div></section>
</div></div>
<script src="${visit.link(assetPath('follow.js'))}" defer></script>`;
  return pageFrame(visit, { title: `${sequence}: ${transition.type} · ${overview.agent}`, section: 'sessions', main });
}

/** The ways along the transitions; the script lends them the arrow keys. */
function travelBar(address: SessionAddress, sequence: number, version: number): Html {
  const link = (to: number, text: string, rel: string) =>
    to < 1 || to > version || to === sequence
      ? markup`<li><span class="button" aria-disabled="true">${text}</span></li>`
      : markup`<li><a class="button" href="${address.moment(to)}" rel="${rel}">${text}</a></li>`;
  return markup`<nav class="travel card" aria-label="Along the transitions"><ul>${link(1, 'First', 'first')}${link(sequence - 1, '← Before', 'prev')}${link(sequence + 1, 'After →', 'next')}${link(version, 'Last', 'last')}</ul><progress class="travel-place" max="${version}" value="${sequence}" aria-label="Place in the session">${sequence} of ${version}</progress><span class="muted small travel-hint" id="travel-hint" hidden>Arrow keys go along</span><a href="${address.page({})}">Now</a></nav>`;
}

function nearItem(address: SessionAddress, { transition }: Timeline['entries'][number], sequence: number): Html {
  const here = transition.sequence === sequence;
  return markup`<li${here && markup` class="is-here"`}><a href="${address.moment(transition.sequence)}"${here && markup` aria-current="true"`}><span class="near-number">${transition.sequence}</span> <code>${said(transition.type)}</code></a> ${way(transition.from, transition.to)}</li>`;
}

function changes({ before, after }: FoldedAt, names: CallNames): Html {
  const [was, is] = [snapshotOf(before), snapshotOf(after)];
  if (is === null) return markup`<p class="muted">${LOSSES[after.loss ?? 'illegal']}</p>`;
  if (was === null)
    return markup`<p class="muted">What was before is not known: ${LOSSES[before.loss ?? 'illegal']}</p>`;
  const changed = changesBetween(was, is, names);
  if (changed.length === 0) return markup`<p class="muted">Nothing in the snapshot.</p>`;
  return markup`<table class="ways changes"><thead><tr><th scope="col">What</th><th scope="col">Before</th><th scope="col">After</th></tr></thead><tbody>${changed.map(({ what, before: from, after: to }) => markup`<tr><th scope="row">${said(what)}</th><td>${value(from)}</td><td>${value(to)}</td></tr>`)}</tbody></table>`;
}

function value(part: unknown): Html {
  const text = part === undefined ? 'absent' : JSON.stringify(part);
  const shown = text.length > MAX_CHANGE_CHARACTERS ? `${text.slice(0, MAX_CHANGE_CHARACTERS)}…` : text;
  return markup`<code>${said(shown)}</code>`;
}

const LOSSES: Readonly<Record<NonNullable<Fold['loss']>, string>> = {
  erased: 'a payload up to here was erased, so nothing can be folded.',
  machineGone: 'the machine of that version is not in this build any more.',
  machineNewer: 'the machine of that version is newer than this build.',
  illegal: 'a recorded event up to here does not fit. Verification says which.',
};

function snapshotPart(fold: Fold, snapshot: Stored | null): Html {
  if (snapshot === null) return markup`<p class="muted">It is not known: ${LOSSES[fold.loss ?? 'illegal']}</p>`;
  return markup`${shownObject('Snapshot', snapshot)}`;
}

/** A snapshot as its row would hold it, of whatever version. */
interface Stored {
  value?: unknown;
  context?: { nextTurnIndex?: unknown; calls?: unknown };
}

function snapshotOf({ machineVersion, held, loss }: Fold): Stored | null {
  if (loss !== null || held === undefined || held === null) return null;
  const isPresent = machineVersion === SESSION_MACHINE_VERSION;
  return (isPresent ? encodeSnapshot(held as SessionSnapshot) : held) as Stored;
}

function nextTurnIndex(snapshot: Stored | null): number | null {
  const index = snapshot?.context?.nextTurnIndex;
  return typeof index === 'number' ? index : null;
}

/** Where nothing can be folded: the last turn that a transition up to then is known to have written. */
function lastTurnBefore({ entries }: Timeline, sequence: number): number | null {
  const written = entries
    .filter(({ transition }) => transition.sequence <= sequence)
    .flatMap(({ transition }) => transition.turnIndexes);
  return written.length === 0 ? null : Math.max(...written) + 1;
}

/** The calls that were open then, as they stood then. */
function chipsOf(snapshot: Stored | null, named: CallNames) {
  return callsIn(snapshot).map(({ executionId, status, unknownReason, attempt }) => ({
    toolName: named.get(executionId)?.toolName ?? executionId,
    status,
    unknownReason,
    attempt,
  }));
}
