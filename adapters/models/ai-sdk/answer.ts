import type { SdkMetadata, SdkStreamPartOf } from './sdk-types.ts';

/** A part of an answer, once it is whole. */
export type AnswerPart =
  | { type: 'text'; text: string; providerMetadata?: SdkMetadata; citations?: unknown }
  | { type: 'reasoning'; text: string; providerMetadata?: SdkMetadata }
  | SdkStreamPartOf<'file'>
  | SdkStreamPartOf<'reasoning-file'>
  | SdkStreamPartOf<'source'>
  | SdkStreamPartOf<'custom'>
  | SdkStreamPartOf<'tool-call'>
  | SdkStreamPartOf<'tool-result'>;

/** What a model's stream held. */
export interface Answer {
  /** In the order in which the provider began them. */
  parts: AnswerPart[];
  /** The last one that came; absent when the stream ended without. */
  finish?: SdkStreamPartOf<'finish'>;
  /** The provider's id of the answer, where it says one. */
  responseId?: string;
  /** What the provider could not honour. */
  warnings: unknown[];
}

type BlockPart = SdkStreamPartOf<
  'text-start' | 'text-delta' | 'text-end' | 'reasoning-start' | 'reasoning-delta' | 'reasoning-end'
>;

type Block = Extract<AnswerPart, { type: 'text' | 'reasoning' }>;

/** Text and reasoning that are still being written, by kind and id: providers number them in each way there is. */
export class OpenBlocks {
  readonly #open = new Map<string, Block>();

  /** Takes in one piece. Returns the block when the piece began it. */
  take(part: BlockPart): Block | null {
    const [kind, step] = part.type.split('-') as ['text' | 'reasoning', 'start' | 'delta' | 'end'];
    const key = `${kind}:${part.id}`;
    const known = step === 'start' ? undefined : this.#open.get(key);
    const block: Block = known ?? { type: kind, text: '' };
    this.#open.set(key, block);
    if ('delta' in part) block.text += part.delta;
    // The later one replaces the earlier: so the providers of the SDK send them, a signature for example at the end.
    if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
    if (part.type === 'text-end' && part.citations !== undefined) Object.assign(block, { citations: part.citations });
    if (step === 'end') this.#open.delete(key);
    return known === undefined ? block : null;
  }
}
