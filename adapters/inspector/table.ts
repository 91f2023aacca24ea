import { type Html, markup, type Piece } from './html.ts';

/** A column of a table. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => Piece;
  /** `title`: what the row is about; on a narrow screen it stands above the others, without its column's name. */
  is?: 'title' | 'number';
}

/**
 * A table that turns into cards on a narrow screen. The roles are written out, since other boxes would lose them there; each cell then shows
 * its column's name.
 */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  return markup`<table class="table" role="table">
<caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(headerOf)}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => markup`<tr role="row">${columns.map((column) => cellOf(column, row))}</tr>\n`)}</tbody>
</table>`;
}

function headerOf<Row>({ title, is }: Column<Row>): Html {
  return markup`<th role="columnheader" scope="col" class="${is === 'number' ? 'number' : ''}">${title}</th>`;
}

function cellOf<Row>({ title, cell, is }: Column<Row>, row: Row): Html {
  const looks = is === 'title' ? 'is-title' : is === 'number' ? 'number' : '';
  const role = is === 'title' ? 'rowheader' : 'cell';
  return markup`<td role="${role}" class="${looks}" data-label="${title}">${markup`<div>${cell(row)}</div>`}</td>`;
}
