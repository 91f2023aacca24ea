/** The page of a session: its chart, what it waits for, its timeline, and a moment of it. */
export const SESSION = `.session-head .crumbs { margin-bottom: 0.25rem; }
.session-head h1 { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 0.625rem; }
.session-name { color: var(--muted); font-weight: 500; }
.session { display: grid; gap: 1.25rem; grid-template-columns: 21rem minmax(0, 1fr); grid-template-rows: auto 1fr; align-items: start; }
.session > *, .session-rest > * { min-width: 0; }
.session > .waiting { grid-column: 2; grid-row: 1; }
.session-rest { grid-column: 2; grid-row: 2; display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr); }
.moment > .session-rest { grid-row: 1; }
.session > .chart-card { grid-column: 1; grid-row: 1 / span 2; position: sticky; top: 4.5rem; max-height: calc(100vh - 5.5rem); overflow: auto; }

.chart-frame { padding: 0.75rem 1rem 0; display: grid; justify-items: center; }
.chart { width: 100%; height: auto; max-width: 21rem; }
.chart-line { fill: none; stroke: var(--line-strong); stroke-width: 1.25; opacity: 0.55; }
.chart-head { fill: var(--line-strong); opacity: 0.75; }
.chart-reach { fill: none; stroke: transparent; stroke-width: 12; pointer-events: stroke; }
.chart-edge:hover .chart-line { stroke: var(--text); opacity: 1; }
.chart-edge:hover .chart-head { fill: var(--text); opacity: 1; }
.chart-edge[data-lit="true"] .chart-line { stroke: var(--accent); stroke-width: 2.75; opacity: 1; }
.chart-edge[data-lit="true"] .chart-head { fill: var(--accent); stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; opacity: 1; }
.chart-box { fill: var(--surface); stroke: var(--line-strong); stroke-width: 1.25; }
.chart-name { font: 650 12.5px var(--font); fill: var(--text); letter-spacing: 0.01em; }
.chart-says { font: 500 10.5px var(--font); fill: var(--muted); }
.chart-loop { fill: none; stroke: var(--line-strong); stroke-width: 1.4; stroke-linecap: round; opacity: 0; }
.chart-state[data-active="true"] .chart-box { stroke-width: 2.5; }
.chart-state[data-loop="true"] .chart-loop { opacity: 1; stroke: currentColor; }
.chart-state[data-active="true"].chart-quiet .chart-box { fill: var(--quiet-ground); stroke: var(--quiet); }
.chart-state[data-active="true"].chart-busy .chart-box { fill: var(--busy-ground); stroke: var(--busy); }
.chart-state[data-active="true"].chart-asks .chart-box { fill: var(--asks-ground); stroke: var(--asks); }
.chart-state[data-active="true"].chart-good .chart-box { fill: var(--good-ground); stroke: var(--good); }
.chart-state[data-active="true"].chart-bad .chart-box { fill: var(--bad-ground); stroke: var(--bad); }
.chart-state[data-active="true"].chart-quiet { color: var(--quiet); }
.chart-state[data-active="true"].chart-busy { color: var(--busy); }
.chart-state[data-active="true"].chart-asks { color: var(--asks); }
.chart-state[data-active="true"].chart-good { color: var(--good); }
.chart-state[data-active="true"].chart-bad { color: var(--bad); }
.chart-state[data-active="true"] .chart-name, .chart-state[data-active="true"] .chart-says { fill: currentColor; }
.chart-foot { padding: 0.5rem 1.25rem 1.125rem; display: grid; gap: 0.75rem; }
.chips-title { font-size: 0.8125rem; color: var(--muted); font-weight: 600; }
.chips { display: flex; flex-wrap: wrap; gap: 0.5rem; }
.chip { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 0.4rem; padding: 0.2rem 0.3rem 0.2rem 0.625rem; border: 1px solid var(--line); border-radius: var(--radius); }
.ways { border-collapse: collapse; width: 100%; font-size: 0.8125rem; }
.ways th, .ways td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem 0.3rem 0; border-bottom: 1px solid var(--line); }
.ways thead th { color: var(--muted); }

.waiting-asks { border-color: var(--asks); }
.waiting-asks .card-head { background: var(--asks-ground); border-radius: var(--radius) var(--radius) 0 0; border-color: transparent; }
.waiting-asks .card-head h2, .waiting-asks .card-head .muted { color: var(--asks); }
.waits { display: grid; gap: 1rem; }
.waits > li { display: grid; gap: 0.3rem; }
.waits > li + li { border-top: 1px solid var(--line); padding-top: 1rem; }
.waits .ask { padding: 0; }
.waits .waits { padding-left: 1rem; border-left: 3px solid var(--line); }
.wait-what { font-weight: 600; }
.commands { display: grid; gap: 0.375rem; }
.command { display: block; padding: 0.5rem 0.75rem; background: var(--sunken); border-radius: var(--radius-small); user-select: all; }
.inbox { display: grid; gap: 0.5rem; }
.inbox-list { display: grid; gap: 0.5rem; }
.inbox-list > li { padding: 0.5rem 0.875rem; border-left: 3px solid var(--line-strong); background: var(--sunken); border-radius: 0 var(--radius-small) var(--radius-small) 0; }

.timeline-card .pager { border-top: 0; border-bottom: 1px solid var(--line); }
.timeline-card .timeline + .pager, .timeline-card .empty + .pager { border-bottom: 0; border-top: 1px solid var(--line); }
.timeline { display: grid; grid-template-columns: minmax(0, 1fr); }
.entry { scroll-margin-top: 4.5rem; }
.run-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 1rem; justify-content: space-between; padding: 0.5rem 1.25rem; background: var(--sunken); font-size: 0.8667rem; font-weight: 600; }
.run-head .muted { font-weight: 500; }
.entry-body { display: grid; gap: 0.625rem; grid-template-columns: minmax(0, 1fr); padding: 0.875rem 1.25rem; border-bottom: 1px solid var(--line); }
.entry:last-child .entry-body { border-bottom: 0; }
.entry-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.125rem 0.75rem; }
.entry-head h3 code { font-size: 0.9375rem; font-weight: 650; }
.entry-by { color: var(--muted); font-size: 0.8125rem; }
.entry-when { margin-left: auto; font-size: 0.8125rem; font-variant-numeric: tabular-nums; }
.entry-moment { font-size: 0.8125rem; font-variant-numeric: tabular-nums; padding: 0.125rem 0.25rem; }
.entry:target > .entry-body { box-shadow: inset 4px 0 0 var(--accent); }
.way { font-size: 0.8125rem; letter-spacing: 0.01em; }
.way-busy { color: var(--busy); }
.way-asks { color: var(--asks); }
.way-good { color: var(--good); }
.way-bad { color: var(--bad); }
.model { font-size: 0.9rem; }
.model-mark { color: var(--accent); }
.said { white-space: pre-wrap; }
.said-long > summary { color: var(--text); font-weight: 400; }
.turn { padding: 0.625rem 0.875rem; border-radius: var(--radius-small); background: var(--sunken); display: grid; gap: 0.25rem; grid-template-columns: minmax(0, 1fr); border-left: 3px solid var(--line-strong); }
.turn-user { background: var(--accent-ground); border-color: var(--accent); }
.turn-system { background: none; border: 1px dashed var(--line-strong); }
.turn-role { font-size: 0.8125rem; font-weight: 650; }
.turn-role .muted { font-weight: 500; }
.call { border: 1px solid var(--line); border-radius: var(--radius-small); padding: 0.75rem 0.875rem; display: grid; gap: 0.5rem; grid-template-columns: minmax(0, 1fr); }
.call-head { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.75rem; }
.call-name { font-size: 0.9375rem; }
.call-facts { color: var(--muted); font-size: 0.8667rem; }
.failure { padding: 0.5rem 0.75rem; border-left: 3px solid var(--bad); background: var(--bad-ground); color: var(--bad); border-radius: 0 var(--radius-small) var(--radius-small) 0; display: grid; gap: 0.2rem; font-size: 0.9rem; grid-template-columns: minmax(0, 1fr); }
.failure .muted, .failure summary { color: inherit; }
.erased { color: var(--muted); font-style: italic; }
.values { display: grid; gap: 0.25rem; grid-template-columns: minmax(0, 1fr); }
.value { font-size: 0.8667rem; min-width: 0; }
.value[open] { padding-bottom: 0.25rem; }
.value > summary { padding: 0.125rem 0; }
.value[open] > summary > .glimpse { display: none; }
.glimpse { font-weight: 400; color: var(--text); }
.record > summary { font-size: 0.8125rem; }
.rounds { display: grid; gap: 0.5rem; }
.rounds > li { display: grid; gap: 0.25rem; grid-template-columns: minmax(0, 1fr); padding-left: 0.75rem; border-left: 3px solid var(--asks); }
.is-fresh > .entry-body { animation: fresh 2.4s ease-out; }
@keyframes fresh { from { background: var(--accent-ground); } to { background: transparent; } }

.follow { margin-left: auto; display: flex; align-items: center; gap: 0.75rem; padding: 0.4rem 0.875rem; border-radius: 99px; background: var(--surface); border: 1px solid var(--line-strong); font-size: 0.8667rem; font-weight: 600; white-space: nowrap; }
.follow:not([hidden]) + .who { margin-left: 0; }
.follow-state { display: inline-flex; align-items: center; gap: 0.5rem; color: var(--asks); }
.follow-state::before { content: ""; width: 0.5rem; height: 0.5rem; border-radius: 50%; border: 2px solid currentColor; }
.follow[data-state="live"] .follow-state { color: var(--good); }
.follow[data-state="live"] .follow-state::before { background: currentColor; }

.travel { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem 1rem; padding: 0.75rem 1.25rem; position: sticky; top: 4rem; z-index: 5; }
.travel ul { display: flex; flex-wrap: wrap; gap: 0.5rem; }
.travel-place { flex: 1 1 8rem; height: 0.5rem; min-width: 6rem; accent-color: var(--accent); }
.near { padding: 0.5rem 0; }
.near li { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.125rem 0.75rem; padding: 0.35rem 1.25rem; }
.near li.is-here { background: var(--accent-ground); box-shadow: inset 4px 0 0 var(--accent); font-weight: 600; }
.near a { text-decoration: none; }
.near a code { text-decoration: underline; text-underline-offset: 0.2em; }
.near-number { display: inline-block; min-width: 2.25rem; font-variant-numeric: tabular-nums; }
.changes th { white-space: nowrap; overflow-wrap: normal; }
.changes td { min-width: 5rem; }
.findings { display: grid; gap: 0.75rem; }
.head-hash { margin: 0.25rem 0 0; }

@media (max-width: 62rem) {
  .session { grid-template-columns: minmax(0, 1fr); }
  .session { grid-template-rows: none; }
  .session > .waiting, .session > .session-rest, .session > .chart-card { grid-column: 1; grid-row: auto; position: static; max-height: none; }
  .chart { max-width: 20rem; }
  .follow { position: fixed; right: 1rem; bottom: 1rem; z-index: 15; box-shadow: var(--shadow); }
  .follow:not([hidden]) + .who { margin-left: auto; }
  body:has(.follow:not([hidden])) .foot { padding-bottom: 4.5rem; }
}
@media (max-width: 48rem) {
  .run-head, .entry-body { padding-left: 1rem; padding-right: 1rem; }
  .entry-when { margin-left: 0; }
  #facts .facts { grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 0.75rem 1rem; }
  .changes th { white-space: normal; min-width: 6rem; }
  .near li { padding-left: 1rem; padding-right: 1rem; }
  .travel { position: static; padding: 0.75rem 1rem; }
  .travel ul { width: 100%; display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .travel .button { width: 100%; }
  .travel-hint { display: none; }
  .entry-moment { padding: 0.25rem 0.5rem; }
  .value > summary { padding: 0.375rem 0; }
}
`;
