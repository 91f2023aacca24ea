import type { Json, TurnPart } from '../../../machines/event-content.ts';
import type { SdkMetadata } from './sdk-types.ts';

/** Stands in a part's stored metadata beside what the provider wrote. No provider of the SDK has this name. */
const KEY = 'turnlock';

/** Where a part comes from. */
export interface PartOrigin {
  /** The provider that made it: only there its metadata means something. */
  provider: string;
  /** Its place among all parts of its answer, from 0 on: calls are stored after the other parts. */
  place: number;
  /** What the provider says that the text rests on. */
  citations?: unknown;
}

/** A stored part: its metadata is what counts here. */
type Stored = TurnPart | { providerMetadata?: Json };

/** The metadata of a part as it is stored: the provider's, unchanged, and where the part comes from. */
export function withOrigin(metadata: SdkMetadata | undefined, origin: PartOrigin): Json {
  return { ...metadata, [KEY]: origin } as unknown as Json;
}

/** Where a stored part comes from; `null` when no model of this adapter made it. */
export function originOf(part: Stored): PartOrigin | null {
  const origin = asObject(asObject(metadataOf(part))?.[KEY]);
  if (typeof origin?.provider !== 'string') return null;
  return origin as unknown as PartOrigin;
}

/** Whether `provider` made the part. */
export function isOf(provider: string, part: Stored): boolean {
  return originOf(part)?.provider === provider;
}

/** What goes back with a part: the provider's metadata as it came, to the same provider only. */
export function optionsFor(provider: string, part: Stored): { providerOptions?: SdkMetadata } {
  if (!isOf(provider, part)) return {};
  const { [KEY]: _, ...metadata } = metadataOf(part) as unknown as SdkMetadata;
  return Object.keys(metadata).length > 0 ? { providerOptions: metadata } : {};
}

function metadataOf(part: Stored): Json | undefined {
  return 'providerMetadata' in part ? part.providerMetadata : undefined;
}

function asObject(value: Json | undefined): { [name: string]: Json } | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}
