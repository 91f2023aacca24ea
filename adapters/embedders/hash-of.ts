/**
 * A hash of 32 bits of the characters from `start` to before `end`: FNV-1a over UTF-16 units, mixed at the end (the finaliser of
 * MurmurHash3), since the low bits of FNV-1a depend on little. The same everywhere; against nobody who looks for collisions.
 */
export function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
