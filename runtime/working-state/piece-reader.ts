import type { DeltaPiece } from './delta-channel.contract.ts';

/**
 * Puts what comes over a channel in order again, for one reader: each attempt from its begin on, without gaps and without what was told twice,
 * and nothing of an attempt that another one has followed. Where something is missing it asks once, and shows no more until it has come.
 */
export class PieceReader {
  readonly #show: (piece: DeltaPiece) => void;
  readonly #ask: () => void;
  #attempt: Pick<DeltaPiece, 'token' | 'from'> | null = null;
  #seen = 0;
  #hasAsked = false;

  constructor({ show, ask }: { show(piece: DeltaPiece): void; ask(): void }) {
    this.#show = show;
    this.#ask = ask;
  }

  take(piece: DeltaPiece): void {
    const order = this.#attempt === null ? 1 : compareAttempts(piece, this.#attempt);
    if (order < 0) return;
    if (order > 0) {
      this.#attempt = { token: piece.token, from: piece.from };
      this.#seen = 0;
      this.#hasAsked = false;
    }
    if (piece.at > this.#seen) {
      if (!this.#hasAsked) this.#ask();
      this.#hasAsked = true;
      return;
    }
    const isNew = piece.at + piece.text.length > this.#seen;
    if (!isNew) return;
    const text = piece.text.slice(this.#seen - piece.at);
    this.#show({ ...piece, text, at: this.#seen });
    this.#seen += text.length;
  }
}

/** Below 0 where `one` was begun before `other`: by a holder before the present one, or at an earlier place of the session. */
export function compareAttempts(
  one: Pick<DeltaPiece, 'token' | 'from'>,
  other: Pick<DeltaPiece, 'token' | 'from'>,
): number {
  return one.token - other.token || one.from - other.from;
}
