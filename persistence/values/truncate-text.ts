/**
 * `text` cut to `maxBytes` of UTF-8, between two characters, with a mark that says so and how much there was. `text` is well-formed.
 */
export function truncateText(text: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  const mark = `… [cut: ${bytes} bytes, of which at most ${maxBytes} are kept]`;
  const room = maxBytes - Buffer.byteLength(mark);
  return room > 0 ? beginning(text, room) + mark : beginning(text, maxBytes);
}

function beginning(text: string, maxBytes: number): string {
  const buffer = Buffer.from(text.slice(0, maxBytes + 1));
  let end = Math.min(maxBytes, buffer.length);
  while (end > 0 && isContinuation(buffer[end])) end -= 1;
  return buffer.toString('utf8', 0, end);
}

/** Whether a character of UTF-8 goes on at this byte. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}
