/** What pages are made of: cards, badges, tables, notes, facts, paging. */
export const PARTS = `.page-head { display: flex; flex-wrap: wrap; align-items: end; justify-content: space-between; gap: 0.75rem 1.5rem; }
.page-head p { color: var(--muted); max-width: 46rem; }
.page-head h1 + p { margin-top: 0.25rem; }
.crumbs { font-size: 0.8667rem; color: var(--muted); margin-bottom: 0.375rem; }

.card { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); }
.card-head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 1rem; padding: 0.875rem 1.25rem; border-bottom: 1px solid var(--line); }
.card-body { padding: 1.25rem; display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
.stack { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
.cluster { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; }
.muted { color: var(--muted); }
.small { font-size: 0.8667rem; }

.badge { display: inline-flex; align-items: center; gap: 0.4em; padding: 0.1em 0.65em; border-radius: 99px; font-size: 0.8125rem; font-weight: 600; line-height: 1.65; white-space: nowrap; background: var(--quiet-ground); color: var(--quiet); }
.badge::before { content: "○" / ""; font-size: 0.85em; }
.badge-busy { background: var(--busy-ground); color: var(--busy); }
.badge-busy::before { content: "◐" / ""; }
.badge-asks { background: var(--asks-ground); color: var(--asks); }
.badge-asks::before { content: "?" / ""; font-weight: 800; }
.badge-good { background: var(--good-ground); color: var(--good); }
.badge-good::before { content: "✓" / ""; }
.badge-bad { background: var(--bad-ground); color: var(--bad); }
.badge-bad::before { content: "✕" / ""; }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 0.875rem; }
.tile { display: grid; gap: 0.125rem; align-content: start; padding: 0.875rem 1.125rem; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); color: inherit; text-decoration: none; }
a.tile:hover { border-color: var(--line-strong); }
.tile-count { font-size: 1.625rem; font-weight: 680; line-height: 1.2; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.tile-name { font-weight: 600; }
.tile-says { color: var(--muted); font-size: 0.8667rem; }
.tile-asks .tile-count { color: var(--asks); }
.tile-bad .tile-count { color: var(--bad); }
.tile-busy .tile-count { color: var(--busy); }

.note { padding: 0.875rem 1.125rem; border-radius: var(--radius); border-left: 4px solid var(--line-strong); background: var(--quiet-ground); color: var(--quiet); display: grid; gap: 0.25rem; }
p.note { display: block; }
.note strong, .note h2 { color: inherit; }
.note a { color: inherit; }
.note-asks { background: var(--asks-ground); color: var(--asks); border-color: var(--asks); }
.note-good { background: var(--good-ground); color: var(--good); border-color: var(--good); }
.note-bad { background: var(--bad-ground); color: var(--bad); border-color: var(--bad); }

.empty { padding: 3rem 1.5rem; text-align: center; display: grid; gap: 0.5rem; justify-items: center; }
.empty p { color: var(--muted); max-width: 34rem; }

.table { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
.table th { text-align: left; font-weight: 600; color: var(--muted); font-size: 0.8125rem; padding: 0.625rem 1rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
.table td { padding: 0.75rem 1rem; border-bottom: 1px solid var(--line); vertical-align: top; }
.table tr:last-child td { border-bottom: 0; }
.table th:first-child, .table td:first-child { padding-left: 1.25rem; }
.table th:last-child, .table td:last-child { padding-right: 1.25rem; }
.table tbody tr:hover { background: color-mix(in srgb, var(--sunken) 45%, transparent); }
.table .number { text-align: right; font-variant-numeric: tabular-nums; }
.clock { display: inline-block; color: var(--muted); font-size: 0.8125rem; font-variant-numeric: tabular-nums; }
.cell-main { font-weight: 600; }
.cell-sub { color: var(--muted); font-size: 0.8667rem; }

.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 0.875rem 1.5rem; margin: 0; }
.facts dt { color: var(--muted); font-size: 0.8125rem; font-weight: 550; }
.facts dd { margin: 0; }
.facts time { white-space: normal; }

.payload { padding: 0.875rem 1rem; background: var(--sunken); border-radius: var(--radius-small); max-height: 24rem; overflow: auto; }
details > summary { cursor: pointer; color: var(--muted); font-weight: 550; }
details[open] > summary { margin-bottom: 0.5rem; }

.pager { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.75rem; padding: 0.75rem 1.25rem; border-top: 1px solid var(--line); color: var(--muted); font-size: 0.8667rem; }
.pager ul { display: flex; flex-wrap: wrap; gap: 0.5rem; }

@media (max-width: 48rem) {
  .table, .table tbody, .table tr, .table td { display: block; }
  .table thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .table tr { padding: 0.875rem 1rem; border-bottom: 1px solid var(--line); display: grid; gap: 0.375rem; }
  .table tr:last-child { border-bottom: 0; }
  .table td, .table td:first-child, .table td:last-child { padding: 0; border: 0; display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: 0.75rem; }
  .table td[data-label]::before { content: attr(data-label) / ""; color: var(--muted); font-size: 0.875rem; }
  .table td.is-title { display: block; }
  .table td.is-title::before { content: none; }
  .table .number { text-align: left; }
  .card-head, .card-body, .pager { padding-left: 1rem; padding-right: 1rem; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.75rem 1rem; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .tile { padding: 0.75rem 0.875rem; }
}
`;
