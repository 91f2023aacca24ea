import type { SessionState } from '../../../machines/session-state.ts';
import { type Html, markup } from '../html.ts';
import { STATE_WORDS } from '../state-badge.ts';
import type { ChartEdge, ChartState } from './chart-layout.ts';
import { SESSION_CHART } from './session-chart.generated.ts';

/** What the chart is to show. */
export interface ShownTransition {
  from: SessionState;
  to: SessionState;
  /** The event's name. */
  type: string;
}

const { width, height, stateWidth, stateHeight, states, edges } = SESSION_CHART;

/**
 * The session machine as a picture: every state, every legal way between two of them, the state that the session is in, and the way that it
 * came. The same is said in words: as the picture's title and description, and in the title of each way. Looks are the stylesheet's alone, and
 * nothing but attributes says which are lit, so that a script can change them.
 */
export function sessionChart(state: SessionState, taken: ShownTransition | null): Html {
  return markup`<svg class="chart" role="img" aria-labelledby="chart-title chart-desc" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title id="chart-title">Statechart: the session is ${state}</title>
<desc id="chart-desc">${chartSentence(state, taken)}</desc>
<g class="chart-edges">${inFront(edges, taken).map((edge) => drawEdge(edge, isTaken(edge, taken)))}</g>
<g class="chart-states">${states.map((one) => drawState(one, { isActive: one.state === state, isLoop: isLoopOf(one, taken) }))}</g>
</svg>`;
}

/** What the picture says, as a sentence. */
export function chartSentence(state: SessionState, taken: ShownTransition | null): string {
  if (taken === null) return `${state}: nothing has happened yet.`;
  if (taken.from === taken.to) return `${taken.type} left it in ${state}.`;
  return `${taken.type} took it from ${taken.from} to ${taken.to}.`;
}

/** Lines that are lit are drawn last, over those that they cross. */
function inFront(all: readonly ChartEdge[], taken: ShownTransition | null): ChartEdge[] {
  return [...all].sort((one, other) => Number(isTaken(one, taken)) - Number(isTaken(other, taken)));
}

function isTaken({ from, to }: ChartEdge, taken: ShownTransition | null): boolean {
  return taken !== null && taken.from === from && taken.to === to;
}

function isLoopOf({ state }: ChartState, taken: ShownTransition | null): boolean {
  return taken !== null && taken.from === state && taken.to === state;
}

function drawEdge({ from, to, on, path, head }: ChartEdge, lit: boolean): Html {
  return markup`<g class="chart-edge" data-edge="${from} ${to}" data-lit="${String(lit)}"><title>${from} to ${to} on ${on.join(', ')}</title><path class="chart-reach" d="${path}"/><path class="chart-line" d="${path}"/><path class="chart-head" d="${head}"/></g>`;
}

function drawState(
  { state, x, y, loops }: ChartState,
  { isActive, isLoop }: { isActive: boolean; isLoop: boolean },
): Html {
  const { text, tone } = STATE_WORDS[state];
  const middle = x + stateWidth / 2;
  const stays = loops.length === 0 ? 'Nothing leads out of it.' : `It stays on ${loops.join(', ')}`;
  return markup`<g class="chart-state chart-${tone}" data-state="${state}" data-active="${String(isActive)}" data-loop="${String(isLoop)}"><title>${state}. ${stays}</title><rect class="chart-box" x="${x}" y="${y}" width="${stateWidth}" height="${stateHeight}" rx="9"/><text class="chart-name" x="${middle}" y="${y + 20}" text-anchor="middle">${state}</text><text class="chart-says" x="${middle}" y="${y + 35}" text-anchor="middle">${text}</text>${loops.length > 0 && loopMark(x + stateWidth, y + stateHeight)}</g>`;
}

/** A small arrow at the corner, shown where the last event left the state as it was. */
function loopMark(right: number, bottom: number): Html {
  const [cx, cy] = [right - 15, bottom - 14];
  return markup`<path class="chart-loop" d="M${cx + 4.6} ${cy - 2.6}A5.3 5.3 0 1 0 ${cx + 4.9} ${cy + 2}M${cx + 5.2} ${cy - 6.4}V${cy - 2.4}H${cx + 1.2}"/>`;
}
