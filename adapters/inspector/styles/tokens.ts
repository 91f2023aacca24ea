/** Colours and sizes. Each text colour has a contrast of 4.5 or more on every ground that it stands on, in both themes: a test computes it. */
export const TOKENS = `:root {
  color-scheme: light dark;
  --ground: #f6f7f9;
  --surface: #ffffff;
  --sunken: #eef0f4;
  --line: #dde1e8;
  --line-strong: #8b93a3;
  --text: #14171d;
  --muted: #535b6b;
  --accent: #3a45d6;
  --accent-ground: #eaecff;
  --on-accent: #ffffff;
  --quiet: #414958;
  --quiet-ground: #e9ecf1;
  --busy: #1d43b0;
  --busy-ground: #e2eaff;
  --asks: #7d4300;
  --asks-ground: #ffeecf;
  --good: #135c33;
  --good-ground: #dcf4e4;
  --bad: #9c1d17;
  --bad-ground: #ffe4e1;
  --shadow: 0 1px 2px rgb(20 23 29 / 6%), 0 4px 16px rgb(20 23 29 / 5%);
  --radius: 10px;
  --radius-small: 6px;
  --font: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1014;
    --surface: #171a20;
    --sunken: #20242c;
    --line: #2c313b;
    --line-strong: #747d8e;
    --text: #e9ebf0;
    --muted: #a3abba;
    --accent: #a3acff;
    --accent-ground: #252a4d;
    --on-accent: #10123a;
    --quiet: #c3cad7;
    --quiet-ground: #2a2f39;
    --busy: #a9c1ff;
    --busy-ground: #1c2a52;
    --asks: #ffcf86;
    --asks-ground: #432d08;
    --good: #8fdfae;
    --good-ground: #10371f;
    --bad: #ffb0a8;
    --bad-ground: #4b1613;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 4px 16px rgb(0 0 0 / 30%);
  }
}
`;
