import { existsSync } from 'node:fs';

/** Where Debian has it. TURNLOCK_CHROMIUM names another one. */
export const CHROMIUM = process.env.TURNLOCK_CHROMIUM ?? '/usr/bin/chromium';

/** Fails the run where there is no Chromium: what is not run proves nothing. */
export function setup(): void {
  if (existsSync(CHROMIUM)) return;
  throw new Error(
    `no Chromium at ${CHROMIUM}, and these tests need it: run .ci/install-chromium (Debian), or name yours with TURNLOCK_CHROMIUM=<path>`,
  );
}
