import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DeltaPiece } from '../../../index.ts';
import { PieceReader } from '../../../runtime/working-state/piece-reader.ts';
import { describeProperties, runs } from '../../support/property.ts';
import { pieceOf } from './delta-channel-suite.ts';

/** Attempts one after the other, some by a later holder: each a text in pieces. */
const attempts = fc.array(
  fc.record({
    token: fc.integer({ min: 1, max: 3 }),
    pieces: fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
  }),
  { minLength: 1, maxLength: 4 },
);

function written(given: { token: number; pieces: string[] }[]): DeltaPiece[] {
  return given
    .toSorted((one, other) => one.token - other.token)
    .flatMap(({ token, pieces }, index) => {
      let at = 0;
      return pieces.map((text) => {
        const piece = pieceOf(text, { token, from: index + 1, after: index + 1, at });
        at += text.length;
        return piece;
      });
    });
}

describeProperties('a reader of pieces', () => {
  test('shows of each attempt a begin of its text and nothing else, and attempts in order, whatever a channel does', () => {
    fc.assert(
      fc.property(attempts, fc.array(fc.nat(), { maxLength: 60 }), (given, picks) => {
        const sent = written(given);
        const shown: DeltaPiece[] = [];
        let asked = 0;
        const reader = new PieceReader({
          show: (piece) => shown.push(piece),
          ask: () => {
            asked += 1;
          },
        });
        // Each delivery is any piece: so pieces are lost, repeated and out of order.
        for (const pick of picks) reader.take(sent[pick % sent.length] as DeltaPiece);
        const places = shown.map(({ from }) => from);
        expect(places).toEqual(places.toSorted((one, other) => one - other));
        for (const from of new Set(places)) {
          const of = (pieces: DeltaPiece[]) =>
            pieces
              .filter((piece) => piece.from === from)
              .map(({ text }) => text)
              .join('');
          expect(of(sent).startsWith(of(shown))).toBe(true);
        }
        expect(asked).toBeLessThanOrEqual(given.length);
      }),
      runs(300),
    );
  });

  test('shows all of the last attempt once it is told again from its begin on', () => {
    fc.assert(
      fc.property(attempts, fc.array(fc.nat(), { maxLength: 30 }), (given, picks) => {
        const sent = written(given);
        let shown = '';
        const last = sent.at(-1)?.from;
        const reader = new PieceReader({
          show: ({ from, text }) => {
            if (from === last) shown += text;
          },
          ask: () => undefined,
        });
        for (const pick of picks) reader.take(sent[pick % sent.length] as DeltaPiece);
        const ofLast = sent.filter(({ from }) => from === last);
        for (const piece of ofLast) reader.take(piece);
        expect(shown).toBe(ofLast.map(({ text }) => text).join(''));
      }),
      runs(300),
    );
  });
});
