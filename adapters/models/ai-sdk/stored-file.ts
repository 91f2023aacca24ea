import { createHash } from 'node:crypto';
import type { SdkStreamPartOf } from './sdk-types.ts';

/** Keeps a file that a model made, and says where: a URL, or any text that the application understands. */
export type StoreFile = (file: { mediaType: string; content: Uint8Array }) => string | Promise<string>;

/**
 * A file of an answer as it is stored: by reference. The content of one that came inline goes to `store`; without it the content is
 * not kept, and the reference says by its digest what it was.
 */
export async function storedFile(
  { mediaType, data }: SdkStreamPartOf<'file' | 'reasoning-file'>,
  store: StoreFile | undefined,
): Promise<{ type: 'file'; mediaType: string; reference: string }> {
  if (data.type === 'url') return { type: 'file', mediaType, reference: data.originalUrl ?? data.url.toString() };
  const content = typeof data.data === 'string' ? Buffer.from(data.data, 'base64') : data.data;
  const reference = await (store ?? digestOf)({ mediaType, content });
  return { type: 'file', mediaType, reference };
}

function digestOf({ content }: { content: Uint8Array }): string {
  return `urn:sha256:${createHash('sha256').update(content).digest('hex')}`;
}
