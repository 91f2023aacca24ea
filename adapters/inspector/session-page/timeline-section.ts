import type { Timeline, TimelineEntry } from '../../../persistence/read-timeline.ts';
import { type Html, markup } from '../html.ts';
import type { SessionAddress } from './session-address.ts';
import { timelineEntry } from './timeline-entry.ts';

/** How many transitions stand on a page. */
export const ENTRIES_PER_PAGE = 50;

/** What is shown of a timeline: its entries, and the one before them, which is not shown. */
export interface ShownTimeline {
  timeline: Timeline;
  /** The first of {@link timeline} is not shown. */
  hasOneBefore: boolean;
  /** The sequence of the session's last transition. */
  version: number;
}

/** The items of a timeline's list. */
export function timelineItems(address: SessionAddress, { timeline, hasOneBefore }: ShownTimeline): Html[] {
  const { entries } = timeline;
  const shown = hasOneBefore ? entries.slice(1) : entries;
  return shown.map((entry, place) => {
    const before: TimelineEntry | null = (hasOneBefore ? entries[place] : entries[place - 1]) ?? null;
    return timelineEntry(entry, { timeline, before, address });
  });
}

/** A page of the timeline: an ordered list, and the ways to those before and after it. */
export function timelineSection(address: SessionAddress, shown: ShownTimeline): Html {
  const items = timelineItems(address, shown);
  const sequences = shown.timeline.entries
    .slice(shown.hasOneBefore ? 1 : 0)
    .map(({ transition }) => transition.sequence);
  const [first, last] = [sequences[0] ?? 0, sequences.at(-1) ?? 0];
  const isLatest = last >= shown.version;
  return markup`<section class="card timeline-card" aria-labelledby="timeline-title">
<div class="card-head"><h2 id="timeline-title">Timeline</h2><span class="muted small">${rangeWords(first, last, shown.version)}</span></div>
${pager(address, { first, isLatest, last }, 'Timeline, before')}
<ol class="timeline" id="timeline" data-latest="${String(isLatest)}" data-entries="${address.entries}" data-events="${address.events}">
${items}
</ol>
${items.length === 0 && markup`<p class="empty muted" id="timeline-empty">Nothing has happened yet.</p>`}
${pager(address, { first, isLatest, last }, 'Timeline, after')}
</section>`;
}

function rangeWords(first: number, last: number, version: number): Html {
  if (version === 0) return markup`no transition yet`;
  return markup`<span id="timeline-range">${first} to ${last}</span> of <span id="timeline-version">${version.toLocaleString('en-GB')}</span>`;
}

function pager(
  address: SessionAddress,
  { first, last, isLatest }: { first: number; last: number; isLatest: boolean },
  name: string,
): Html | null {
  if (first <= 1 && isLatest) return null;
  const earlier =
    first > 1 &&
    markup`<li><a class="button" href="${address.page({ after: '0' })}">First</a></li><li><a class="button" rel="prev" href="${address.page({ before: String(first) })}">Earlier</a></li>`;
  const later =
    !isLatest &&
    markup`<li><a class="button" rel="next" href="${address.page({ after: String(last) })}">Later</a></li><li><a class="button" href="${address.page({})}">Latest</a></li>`;
  return markup`<nav class="pager" aria-label="${name}"><ul>${earlier}</ul><ul>${later}</ul></nav>`;
}
