import { shorten, widthOf } from './text-width.ts';

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  /** Harmless text, without colours. */
  readonly text: (row: Row) => string;
  /** Colours the padded text. */
  readonly style?: (text: string, row: Row) => string;
  /** Columns of the terminal at the most. Default: as many as it takes. */
  readonly maxWidth?: number;
}

/** A table with a line of titles; its last column is not padded. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  styleTitle: (text: string) => string,
): string[] {
  const cells = rows.map((row) => columns.map(({ text, maxWidth = Infinity }) => shorten(text(row), maxWidth)));
  const widths = columns.map(({ title }, place) =>
    cells.reduce((width, line) => Math.max(width, widthOf(line[place] ?? '')), title.length),
  );
  const padded = (text: string, place: number) =>
    place === columns.length - 1 ? text : text + ' '.repeat((widths[place] ?? 0) - widthOf(text));
  const titles = columns.map(({ title }, place) => styleTitle(padded(title, place))).join('  ');
  const lines = cells.map((line, index) =>
    line
      .map((text, place) => {
        const style = columns[place]?.style;
        return style ? style(padded(text, place), rows[index] as Row) : padded(text, place);
      })
      .join('  '),
  );
  return [titles, ...lines];
}
