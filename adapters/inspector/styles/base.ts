/** Elements, the frame of a page, focus, motion, print. */
export const BASE = `*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 4.5rem; }
body {
  margin: 0;
  min-height: 100vh;
  min-height: 100dvh;
  display: flex;
  flex-direction: column;
  background: var(--ground);
  color: var(--text);
  font: 15px/1.5 var(--font);
  overflow-wrap: anywhere;
}
h1, h2, h3, h4 { margin: 0; line-height: 1.25; font-weight: 650; text-wrap: balance; }
h1 { font-size: 1.5rem; letter-spacing: -0.015em; }
h2 { font-size: 1.0625rem; letter-spacing: -0.005em; }
h3 { font-size: 0.9375rem; }
p { margin: 0; }
ul, ol { margin: 0; padding: 0; list-style: none; }
a { color: var(--accent); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
code, pre, kbd, .mono { font-family: var(--mono); font-size: 0.8667em; font-variant-ligatures: none; }
pre { margin: 0; white-space: pre-wrap; tab-size: 4; }
time { white-space: nowrap; }
bdi { unicode-bidi: isolate; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
::selection { background: var(--accent); color: var(--on-accent); }
[hidden] { display: none !important; }

.skip { position: absolute; left: 1rem; top: -4rem; z-index: 20; padding: 0.5rem 1rem; border-radius: var(--radius-small); background: var(--accent); color: var(--on-accent); }
.skip:focus { top: 0.5rem; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.bar { position: sticky; top: 0; z-index: 10; background: var(--surface); border-bottom: 1px solid var(--line); }
.bar-inner { max-width: 80rem; margin: 0 auto; padding: 0 1.5rem; min-height: 3.5rem; display: flex; align-items: center; gap: 2rem; }
.brand { display: inline-flex; align-items: center; gap: 0.5rem; color: var(--text); font-weight: 700; font-size: 1.0625rem; letter-spacing: -0.02em; text-decoration: none; }
.brand-mark { width: 1.5rem; height: 1.5rem; fill: none; stroke: var(--accent); stroke-width: 2.2; stroke-linecap: round; stroke-linejoin: round; }
.nav { display: flex; gap: 0.25rem; }
.nav a { display: block; padding: 0.4rem 0.75rem; border-radius: var(--radius-small); color: var(--muted); font-weight: 550; text-decoration: none; white-space: nowrap; }
.nav a:hover { background: var(--sunken); color: var(--text); }
.nav a[aria-current] { background: var(--accent-ground); color: var(--accent); }
.who { margin-left: auto; display: flex; align-items: center; gap: 0.75rem; font-size: 0.8667rem; color: var(--muted); }
.who-by { color: var(--text); font-weight: 550; }
.who-tenant::before { content: "·" / ""; margin-right: 0.75rem; }

main { flex: 1; width: 100%; max-width: 80rem; margin: 0 auto; padding: 2rem 1.5rem 3rem; display: grid; gap: 1.5rem; align-content: start; grid-template-columns: minmax(0, 1fr); }
.foot { border-top: 1px solid var(--line); padding: 1rem 1.5rem; color: var(--muted); font-size: 0.8667rem; }
.foot p { max-width: 77rem; margin: 0 auto; }

.narrow { max-width: 26rem; margin: 12vh auto 0; }

@media (max-width: 48rem) {
  body { font-size: 16px; }
  main { padding: 1.25rem 1rem 2.5rem; gap: 1.25rem; }
  .bar { position: static; }
  .bar-inner { flex-wrap: wrap; gap: 0 1rem; padding: 0.5rem 1rem 0; }
  .bar nav { order: 3; flex: 0 0 calc(100% + 2rem); margin: 0 -1rem; overflow-x: auto; scrollbar-width: none; }
  .nav { padding: 0.25rem 1rem 0.5rem; width: max-content; gap: 0; }
  .nav a { padding: 0.55rem 0.6rem; }
  .foot { padding: 1rem; }
}
@media (prefers-reduced-motion: no-preference) {
  .button, .nav a, .row-link { transition: background-color 120ms, border-color 120ms; }
}
@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; }
}
@media (forced-colors: active) {
  .badge, .card, .button, .note { border: 1px solid; }
}
@media print {
  .bar, .foot, .skip, form { display: none; }
  body { background: #fff; color: #000; }
}
`;
