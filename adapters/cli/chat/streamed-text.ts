import { escapeLines } from '../escape-text.ts';

/** Columns of a tabulator. */
const TAB = '    ';

/** `text` over several lines, harmless for a terminal; tabulators become spaces. */
export function plainText(text: string): string {
  return escapeLines(text.replaceAll('\t', TAB)).join('\n');
}

/**
 * Text that comes in pieces, harmless for a terminal: whatever is cut in two, be it an escape sequence, a character of two units or the
 * end of a line, is escaped as if it had come whole.
 */
export class StreamedText {
  #held = '';

  /** What can be shown now. */
  push(piece: string): string {
    const text = this.#held + piece;
    const shown = isUnfinished(text) ? text.length - 1 : text.length;
    this.#held = text.slice(shown);
    return plainText(text.slice(0, shown));
  }

  /** What was held back, now that nothing follows. */
  end(): string {
    const rest = plainText(this.#held);
    this.#held = '';
    return rest;
  }
}

/** Whether what the last unit means is decided by the next one: the first half of a pair, or a carriage return. */
function isUnfinished(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last === 0x0d || (last >= 0xd800 && last <= 0xdbff);
}
