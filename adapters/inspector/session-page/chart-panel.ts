import type { SessionState } from '../../../machines/session-state.ts';
import type { TimelineCall } from '../../../persistence/read-timeline-calls.ts';
import { chartSentence, type ShownTransition, sessionChart } from '../chart/draw-session.ts';
import { SESSION_CHART } from '../chart/session-chart.generated.ts';
import { type Html, markup, said } from '../html.ts';
import { callChip } from './call-card.ts';

/** The statechart with what is lit in it, the calls that are open, each with its own machine's state, and all ways as a table. */
export function chartPanel(
  state: SessionState,
  taken: ShownTransition | null,
  calls: readonly Pick<TimelineCall, 'toolName' | 'status' | 'unknownReason' | 'attempt'>[],
): Html {
  return markup`<section class="card chart-card" id="chart" aria-labelledby="chart-head">
<div class="card-head"><h2 id="chart-head">Statechart</h2></div>
<div class="chart-frame">${sessionChart(state, taken)}</div>
<div class="chart-foot"><p class="small" id="chart-says">${said(chartSentence(state, taken))}</p>
${calls.length > 0 && markup`<h3 class="chips-title">Tool executions</h3><ul class="chips">${calls.map(callChip)}</ul>`}
<details class="value"><summary>All transitions as a table</summary><table class="ways"><thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">On</th></tr></thead><tbody>${SESSION_CHART.edges.map(({ from, to, on }) => markup`<tr><td>${from}</td><td>${to}</td><td>${on.join(', ')}</td></tr>`)}${SESSION_CHART.states.filter(({ loops }) => loops.length > 0).map(({ state: one, loops }) => markup`<tr><td>${one}</td><td>stays</td><td>${loops.join(', ')}</td></tr>`)}</tbody></table></details></div>
</section>`;
}
