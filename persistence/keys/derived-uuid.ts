import { sha256Hex } from './sha256-hex.ts';

/** The UUID that follows from `parts`: of version 8 (RFC 9562, section 5.8), from SHA-256 over a JSON array. */
export function derivedUuid(...parts: (string | number | null)[]): string {
  const hex = sha256Hex(JSON.stringify(parts));
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
