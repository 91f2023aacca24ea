/** The order in which jsonb keeps the keys of an object: by length in bytes of UTF-8, then byte by byte. */
export function compareJsonbKeys(a: string, b: string): number {
  const difference = Buffer.byteLength(a) - Buffer.byteLength(b);
  return difference !== 0 ? difference : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
