import { TurnlockError } from '../../errors.ts';

/**
 * The fields of a form that was sent, of which no more than `maxBytes` are read.
 *
 * @throws VALUE_TOO_LARGE for a longer one; the rest of it is not read.
 */
export async function readForm(request: Request, maxBytes: number): Promise<URLSearchParams> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request.body ?? []) {
    bytes += part.byteLength;
    if (bytes > maxBytes) {
      throw new TurnlockError('VALUE_TOO_LARGE', {
        message: `value too large: form (found more than ${maxBytes} bytes, wanted ${maxBytes} at the most)`,
      });
    }
    parts.push(part);
  }
  return new URLSearchParams(Buffer.concat(parts).toString('utf8'));
}
