/** Fields, buttons, filters, decisions. */
export const FORMS = `.button, .field { font: inherit; color: inherit; min-height: 2.5rem; border-radius: var(--radius-small); border: 1px solid var(--line-strong); background: var(--surface); }
.button { display: inline-flex; align-items: center; justify-content: center; gap: 0.4rem; padding: 0.35rem 1rem; font-weight: 600; text-decoration: none; cursor: pointer; }
.button:hover { background: var(--sunken); }
.button[aria-current] { background: var(--accent-ground); border-color: var(--accent); color: var(--accent); }
.button-main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.button-main:hover { background: color-mix(in srgb, var(--accent) 88%, var(--text)); }
.button-bad { border-color: var(--bad); color: var(--bad); }
.button-bad:hover { background: var(--bad-ground); }
.button[aria-disabled="true"], .button:disabled { opacity: 0.55; cursor: default; }
form[data-sent] .button { opacity: 0.6; cursor: progress; }
.link { font: inherit; padding: 0; border: 0; background: none; color: var(--accent); text-decoration: underline; text-underline-offset: 0.2em; cursor: pointer; }

.field { padding: 0.35rem 0.75rem; width: 100%; }
select.field { padding-right: 0.5rem; }
textarea.field { min-height: 4.5rem; padding: 0.5rem 0.75rem; resize: vertical; font-family: inherit; }
textarea.field.mono { font-family: var(--mono); font-size: 0.8667em; }
.label { display: grid; gap: 0.25rem; font-size: 0.8667rem; font-weight: 550; color: var(--muted); }
.label .field { font-size: 0.9375rem; font-weight: 400; color: var(--text); }
.hint { font-size: 0.8125rem; font-weight: 400; color: var(--muted); }
.check { display: inline-flex; align-items: center; gap: 0.5rem; min-height: 2.5rem; }
.check input { flex: none; width: 1.125rem; height: 1.125rem; accent-color: var(--accent); }

.filters { display: grid; gap: 0.875rem; padding: 1rem 1.25rem; }
.search { display: flex; gap: 0.5rem; }
.search .field { flex: 1; min-width: 0; }
.filter-row { display: flex; flex-wrap: wrap; align-items: end; gap: 0.75rem; }
.filter-row .label { flex: 1 1 9rem; max-width: 15rem; }
.filter-row .check { flex: 0 1 auto; }

.ask { display: grid; gap: 1rem; padding: 1.25rem; }
.ask + .ask { border-top: 1px solid var(--line); }
.ask-head { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; }
.ask-head h3 { font-size: 1.0625rem; }
.ask-question { font-size: 1.0625rem; font-weight: 550; white-space: pre-wrap; }
.decide { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem; align-items: start; }
.decide form { display: grid; gap: 0.75rem; padding: 1rem; border: 1px solid var(--line); border-radius: var(--radius-small); align-content: start; }
.decide form > .button { justify-self: start; }

@media (max-width: 48rem) {
  .button, .field { min-height: 2.75rem; font-size: 16px; }
  .filter-row .label { flex-basis: calc(50% - 0.5rem); max-width: none; }
  .decide form > .button { justify-self: stretch; }
  .ask, .filters { padding: 1rem; }
}
`;
