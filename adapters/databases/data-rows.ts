const DATA_ROW = 'D'.charCodeAt(0);

/**
 * The columns of every data row in an answer of PostgreSQL's protocol, as texts, in order.
 *
 * PGlite's own reader makes texts with a decoder that drops U+FEFF where one begins with it, so what was stored came back changed.
 *
 * Source: PostgreSQL 18 manual, 54.7 Message Formats: a byte for the kind, four for the length with themselves, then the content.
 */
export function readDataRows(answer: Uint8Array): (string | null)[][] {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
  const rows: (string | null)[][] = [];
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    if (bytes[at] === DATA_ROW) rows.push(readColumns(bytes, at + 5));
  }
  return rows;
}

function readColumns(bytes: Buffer, start: number): (string | null)[] {
  const count = bytes.readInt16BE(start);
  const columns: (string | null)[] = [];
  let at = start + 2;
  for (let column = 0; column < count; column += 1) {
    const length = bytes.readInt32BE(at);
    at += 4;
    columns.push(length < 0 ? null : bytes.toString('utf8', at, at + length));
    at += Math.max(0, length);
  }
  return columns;
}
