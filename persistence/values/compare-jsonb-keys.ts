/** The order in which jsonb keeps the keys of an object: by length in bytes of UTF-8, then byte by byte. */
export function compareJsonbKeys(a: string, b: string): number {
  const [bytesOfA, bytesOfB] = [Buffer.byteLength(a), Buffer.byteLength(b)];
  if (bytesOfA !== bytesOfB) return bytesOfA - bytesOfB;
  // As many bytes as UTF-16 units means ASCII, where the order of units is that of bytes.
  if (bytesOfA === a.length && bytesOfB === b.length) return a < b ? -1 : Number(a > b);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
