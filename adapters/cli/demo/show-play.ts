import { headerText } from '../header-text.ts';
import { timelineText } from '../show-text.ts';
import type { Terminal } from '../terminal.ts';
import type { Play } from './play.ts';

/** Prints the session of a play as `turnlock show` does. */
export function showPlay(terminal: Terminal, { record }: Play): void {
  const columns = Math.max(80, terminal.columns);
  terminal.line();
  for (const line of headerText(record, terminal.colours, columns)) terminal.line(line);
  terminal.line();
  for (const line of timelineText(record, terminal.colours, { columns, lines: 4 })) terminal.line(line);
}
