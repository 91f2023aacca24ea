import { escapeText } from '../escape-text.ts';
import type { Difference } from './compare-history.ts';

/** Characters shown of each side. */
const WINDOW = 100;

/** Characters before the first one that differs. */
const BEFORE = 30;

/** One difference as three lines: where, and both sides around the first character that differs. */
export function renderDifference({ transcriptId, turn, what, recorded, found }: Difference): string[] {
  const from = Math.max(0, firstDifference(recorded, found) - BEFORE);
  return [
    `${escapeText(transcriptId)}, turn ${turn}: ${what}`,
    `  - recorded  ${excerpt(recorded, from)}`,
    `  + found     ${excerpt(found, from)}`,
  ];
}

function firstDifference(a: string, b: string): number {
  let place = 0;
  while (place < a.length && a[place] === b[place]) place += 1;
  return place;
}

function excerpt(text: string, from: number): string {
  const shown = text.slice(from, from + WINDOW);
  return `${from > 0 ? '…' : ''}${escapeText(shown)}${text.length > from + WINDOW ? '…' : ''}`;
}
