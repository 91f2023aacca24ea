import type { Pages } from '../pages.ts';

/** What waits for a person, and the decisions about it. */
export function awaitingPages(_pages: Pages): void {}
