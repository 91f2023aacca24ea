import type { SdkAssistantPart } from './sdk-types.ts';

/** A file of the history: where it is, never its content. */
interface StoredFile {
  mediaType: string;
  reference: string;
}

type SdkFilePart = Extract<SdkAssistantPart, { type: 'file' }>;

/**
 * A stored file as a model takes it: a `data:` URL with its content, another URL as the address from which the provider fetches it.
 * `null` for any other reference, which means nothing to a provider. Nothing is downloaded here.
 */
export function filePart({ mediaType, reference }: StoredFile): SdkFilePart | null {
  const inline = /^data:[^,]*;base64,(?<data>[A-Za-z0-9+/=]*)$/.exec(reference);
  if (inline !== null) return { type: 'file', mediaType, data: { type: 'data', data: inline.groups?.data ?? '' } };
  if (!/^(https?|gs|s3):/.test(reference) || !URL.canParse(reference)) return null;
  const url = new URL(reference);
  const original = url.toString() === reference ? {} : { originalUrl: reference };
  return { type: 'file', mediaType, data: { type: 'url', url, ...original } };
}
