import type { TokenUsage } from '../../../machines/event-content.ts';
import type { RecordedEvent } from '../../../machines/session-event.ts';
import type { SessionState } from '../../../machines/session-state.ts';
import type {
  RunTotals,
  Timeline,
  TimelineEntry,
  TimelineModelCall,
  TimelineTurn,
} from '../../../persistence/read-timeline.ts';
import { describeEvent } from '../../cli/describe-event.ts';
import { formatClock } from '../../cli/format-time.ts';
import { type Html, markup, said } from '../html.ts';
import { STATE_WORDS } from '../state-badge.ts';
import { at } from '../time-text.ts';
import { callCard, errorLine } from './call-card.ts';
import type { SessionAddress } from './session-address.ts';
import { counted, lasted, shortId, shownJson, shownObject, shownText } from './shown-value.ts';

/** What stands around an entry: the page that it is on. */
export interface EntryPlace {
  timeline: Timeline;
  /** The entry before it, on this page or the one before; `null` for the first of the session. */
  before: TimelineEntry | null;
  address: SessionAddress;
}

/** One transition with all that its commit wrote, as an item of an ordered list. The first of a run says so above it. */
export function timelineEntry(entry: TimelineEntry, place: EntryPlace): Html {
  const { transition, erasedAt, turns, turnCount, modelCall, calls } = entry;
  const { sequence, from, to, type, event, createdAt, runId, by, cause } = transition;
  const { before, address, timeline } = place;
  const isNewRun = runId !== (before?.transition.runId ?? null) || before === null;
  const gap = before === null ? null : createdAt.getTime() - before.transition.createdAt.getTime();
  const says = event === null ? '' : describeEvent(withoutBy(event), [...timeline.calls.values()]);
  const copied = turnCount - turns.length;
  return markup`<li class="entry" id="t${sequence}" data-sequence="${sequence}" data-type="${type}" value="${sequence}">
${isNewRun && runHead(runId, timeline.runs)}
<article class="entry-body" aria-labelledby="t${sequence}-what">
<header class="entry-head"><h3 id="t${sequence}-what"><span class="unseen">${sequence}: </span><code>${said(type)}</code></h3>${way(from, to)}<span class="entry-by">${by === null ? cause : markup`by ${said(by)}`}</span>
<span class="entry-when"><time datetime="${createdAt.toISOString()}" title="${createdAt.toISOString()}">${formatClock(createdAt)}</time>${gap !== null && gap >= 1 && markup` <span class="muted">+${lasted(gap)}</span>`}</span>
<a class="entry-moment" href="${address.moment(sequence)}" title="The session as it was after ${sequence}">#${sequence}<span class="unseen">: the session as it was then</span></a></header>
${says !== '' && markup`<p class="small muted">${said(says)}</p>`}
${erasedAt && markup`<p class="erased">The payload of this transition was erased ${at(erasedAt)}.</p>`}
${modelCall && modelLine(modelCall)}
${copied > 0 && markup`<p class="small muted">It wrote ${counted(turnCount, 'turn')}; the last ${turns.length} of them:</p>`}
${turns.filter((turn) => saysSomething(turn, calls)).map((turn) => turnBlock(turn))}
${calls.map((call) => callCard(address, call))}
<details class="value record"><summary>Record</summary>${event !== null && shownObject('Event', event)}${turns.map(({ turnIndex, parts }) => parts.text.length > 2 && shownJson(`Parts of turn ${turnIndex}`, parts))}<dl class="facts small"><div><dt>At</dt><dd>${at(createdAt)}</dd></div><div><dt>Event id</dt><dd><code>${said(transition.eventId)}</code></dd></div>${transition.messageId && markup`<div><dt>Message id</dt><dd>${said(transition.messageId)}</dd></div>`}<div><dt>Cause</dt><dd>${cause}</dd></div>${transition.holder && markup`<div><dt>Worker</dt><dd><code>${said(transition.holder)}</code></dd></div>`}<div><dt>Fencing token</dt><dd>${transition.token}</dd></div><div><dt>Hash</dt><dd><code>${said(transition.hash)}</code></dd></div><div><dt>Hash before</dt><dd><code>${said(transition.previousHash)}</code></dd></div></dl></details>
</article></li>`;
}

/** Who did it stands beside the name of the event already. */
function withoutBy(event: RecordedEvent): RecordedEvent {
  const { by: _, ...rest } = event;
  return rest as RecordedEvent;
}

/** A turn that only calls tools says what its calls say. */
function saysSomething({ role, content, metadata }: TimelineTurn, calls: readonly unknown[]): boolean {
  return role !== 'assistant' || content.length > 0 || metadata !== null || calls.length === 0;
}

function runHead(runId: string | null, runs: ReadonlyMap<string, RunTotals>): Html {
  if (runId === null) return markup`<div class="run-head"><span>Outside a run</span></div>`;
  const totals = runs.get(runId);
  const facts = totals === undefined ? [] : totalsWords(totals);
  return markup`<div class="run-head"><span>Run ${shortId(runId)}</span><span class="muted small">${facts.join(' · ')}</span></div>`;
}

/** What model calls took, in words. */
export function totalsWords({ modelCalls, inputTokens, outputTokens, latencyMs }: RunTotals): string[] {
  if (modelCalls === 0) return ['no model call yet'];
  return [
    counted(modelCalls, 'model call'),
    ...(inputTokens + outputTokens === 0
      ? []
      : [`${inputTokens.toLocaleString('en-GB')} in, ${outputTokens.toLocaleString('en-GB')} out`]),
    `${lasted(latencyMs)} with the model`,
  ];
}

/** From which state to which. */
export function way(from: SessionState, to: SessionState): Html {
  if (from === to) return markup`<span class="way muted">stays ${from}</span>`;
  return markup`<span class="way"><span class="muted">${from}</span> <span aria-hidden="true">→</span><span class="unseen"> to </span> <strong class="way-${STATE_WORDS[to].tone}">${to}</strong></span>`;
}

function modelLine(call: TimelineModelCall): Html {
  const { modelId, attempt, latencyMs, usage, finishReason, errorCode, errorMessage } = call;
  const facts = [
    attempt > 1 && `attempt ${attempt}`,
    latencyMs !== null && lasted(latencyMs),
    ...tokenWords(usage),
    finishReason !== null && finishReason,
  ].filter((fact) => fact !== false);
  return markup`<p class="model"><span class="model-mark" aria-hidden="true">◆</span> <span class="unseen">Model call: </span><strong>${said(modelId)}</strong> <span class="muted">${said(facts.join(' · '))}</span></p>${(errorCode !== null || errorMessage !== null) && errorLine(errorCode, errorMessage)}`;
}

function tokenWords({ inputTokens, outputTokens, totalTokens }: TokenUsage): string[] {
  if (typeof inputTokens === 'number' && typeof outputTokens === 'number') {
    return [`${inputTokens.toLocaleString('en-GB')} in, ${outputTokens.toLocaleString('en-GB')} out`];
  }
  return typeof totalTokens === 'number' ? [counted(totalTokens, 'token')] : [];
}

const ROLES: Readonly<Record<TimelineTurn['role'], string>> = {
  user: 'User',
  assistant: 'Assistant',
  system: 'System',
  tool: 'Tool result',
};

/** A turn of the conversation. */
export function turnBlock({ turnIndex, role, content, metadata, normalised }: TimelineTurn): Html {
  const isEmpty = content.length === 0;
  return markup`<div class="turn turn-${role}"><p class="turn-role">${ROLES[role]}<span class="muted"> · turn ${turnIndex}</span></p>
${isEmpty ? markup`<p class="muted small">No text.</p>` : shownText(content)}
${normalised.length > 0 && markup`<p class="muted small">Characters that cannot be stored were replaced at ${said(normalised.slice(0, 10).join(', ') || 'its text')}.</p>`}
${shownJson('Metadata', metadata)}</div>`;
}
