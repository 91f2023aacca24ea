import { createHash } from 'node:crypto';

/** SHA-256 of the UTF-8 of `text`: 64 hexadecimal digits in lower case. */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
