import type { DeltaPiece } from './delta-channel.contract.ts';

/**
 * Pieces of one attempt in order, those of one kind that follow each other as one, up to so many bytes of UTF-8. Where one more does not fit
 * it holds nothing, and takes nothing any more: a part of an answer must not pass for the whole.
 */
export class PieceQueue {
  readonly #maxBytes: number;
  #pieces: DeltaPiece[] = [];
  #bytes = 0;
  #isFull = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  get pieces(): readonly DeltaPiece[] {
    return this.#pieces;
  }

  add(piece: DeltaPiece): void {
    if (this.#isFull) return;
    this.#bytes += Buffer.byteLength(piece.text);
    if (this.#bytes > this.#maxBytes) {
      this.#isFull = true;
      this.#pieces = [];
      return;
    }
    const last = this.#pieces.at(-1);
    if (last?.kind === piece.kind) this.#pieces[this.#pieces.length - 1] = { ...last, text: last.text + piece.text };
    else this.#pieces.push(piece);
  }

  /** The first piece, which it does not hold any more. */
  shift(): DeltaPiece | undefined {
    const first = this.#pieces.shift();
    this.#bytes -= Buffer.byteLength(first?.text ?? '');
    return first;
  }

  /** Holds these instead, which fitted another one of the same bound. */
  replace(pieces: readonly DeltaPiece[]): void {
    this.#pieces = [];
    this.#bytes = 0;
    for (const piece of pieces) this.add(piece);
  }
}
