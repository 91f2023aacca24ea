import { widthOf } from './text-width.ts';

/** `text` on lines of at most `columns`, broken at spaces where there are any; a word that is longer is broken within. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )/)) {
    if (widthOf(line + word.trimEnd()) > columns && line !== '') {
      lines.push(line.trimEnd());
      line = '';
    }
    line += word;
    while (widthOf(line.trimEnd()) > columns) {
      const head = headOf(line, columns);
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  const last = line.trimEnd();
  return last === '' && lines.length > 0 ? lines : [...lines, last];
}

/** As many characters as fit; one at least. */
function headOf(text: string, columns: number): string {
  let head = '';
  for (const character of text) {
    if (head !== '' && widthOf(head + character) > columns) return head;
    head += character;
  }
  return head;
}
