import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dueSummary } from '../../../runtime/context/due-summary.ts';
import { leastTokens, selectWindow } from '../../../runtime/context/select-window.ts';
import { describeProperties, runs } from '../../support/property.ts';
import { histories, type MadeTurn, tokensOf, whyInvalid } from './histories.ts';

const asked = fc.record({
  turns: histories(),
  covers: fc.double({ min: 0, max: 1, noNaN: true }),
  maxTokens: fc.nat({ max: 600 }),
});

/** Where a summary could have ended: at the last turn of a round as it was then, since notices may have come after it. */
function endOfRound(turns: readonly MadeTurn[], share: number): number {
  const ends = turns.filter((_, at) => turns[at + 1]?.role !== 'tool');
  return ends[Math.floor(share * ends.length) - 1]?.turnIndex ?? -1;
}

const cost = (turns: readonly MadeTurn[]) => turns.reduce((sum, { tokens }) => sum + tokens, 0);

describeProperties('the window of a history', () => {
  test('is valid, keeps the last message and the last round, and is within the budget whenever that is possible', () => {
    fc.assert(
      fc.property(asked, ({ turns, covers, maxTokens }) => {
        const coversToTurn = endOfRound(turns, covers);
        const window = selectWindow({ turns, coversToTurn, maxTokens, tokensOf });
        expect(whyInvalid(window.turns)).toBeNull();
        expect(window.tokens).toBe(cost(window.turns));
        const least = leastTokens({ turns, coversToTurn, tokensOf });
        expect(window.tokens).toBeLessThanOrEqual(Math.max(maxTokens, least));
        expect(window.turns.at(-1)).toBe(turns.at(-1));
        expect(window.turns).toContain(turns.findLast(({ role }) => role === 'user'));
      }),
      runs(500),
    );
  });

  test('has no hole but one behind the message that opens it, shows nothing twice, and nothing that a summary tells of but such a message', () => {
    fc.assert(
      fc.property(asked, ({ turns, covers, maxTokens }) => {
        const coversToTurn = endOfRound(turns, covers);
        const { turns: shown, leftOut } = selectWindow({ turns, coversToTurn, maxTokens, tokensOf });
        const holes = shown.filter(
          (turn, at) => at > 0 && turn.turnIndex !== (shown[at - 1] as MadeTurn).turnIndex + 1,
        );
        expect(holes.length).toBe(leftOut === null ? 0 : 1);
        const message = turns.findLast(({ role }) => role === 'user') as MadeTurn;
        const isRound = (turn: MadeTurn) =>
          turn.turnIndex > coversToTurn || turn.role === 'user' || turn.role === 'system';
        const last = turns.findLastIndex(({ role }) => role === 'user' || role === 'assistant');
        const ended = shown.filter((turn) => turn.turnIndex < (turns[last] as MadeTurn).turnIndex);
        expect(ended.filter((turn) => !isRound(turn))).toEqual([]);
        expect(shown.filter(({ turnIndex }) => turnIndex === message.turnIndex)).toHaveLength(1);
      }),
      runs(500),
    );
  });

  test('shows every turn that no summary tells of, where everything fits', () => {
    fc.assert(
      fc.property(asked, ({ turns, covers }) => {
        const coversToTurn = endOfRound(turns, covers);
        const window = selectWindow({ turns, coversToTurn, maxTokens: cost(turns), tokensOf });
        const open = turns.filter(({ turnIndex }) => turnIndex > coversToTurn);
        expect(window.turns).toEqual(expect.arrayContaining(open));
      }),
      runs(500),
    );
  });

  test('takes everything where everything fits, and never less of a larger budget', () => {
    fc.assert(
      fc.property(asked, ({ turns, maxTokens }) => {
        const of = (tokens: number) => selectWindow({ turns, coversToTurn: -1, maxTokens: tokens, tokensOf }).turns;
        expect(of(cost(turns))).toEqual(turns);
        expect(of(maxTokens + 50).length).toBeGreaterThanOrEqual(of(maxTokens).length);
      }),
      runs(300),
    );
  });
});

describeProperties('a summary that is due', () => {
  const due = fc.record({
    turns: histories(),
    covers: fc.double({ min: 0, max: 1, noNaN: true }),
    maxTokens: fc.integer({ min: 2, max: 600 }),
    share: fc.double({ min: 0, max: 0.5, noNaN: true }),
    rests: fc.boolean(),
  });

  test('is due past half of the budget only, ends where a round ends, and leaves no more than is to be kept', () => {
    fc.assert(
      fc.property(due, ({ turns, covers, maxTokens, share, rests }) => {
        const coversToTurn = endOfRound(turns, covers);
        const keepTokens = Math.floor(maxTokens * share);
        const upToTurn = dueSummary({ turns, coversToTurn, maxTokens, keepTokens, rests, tokensOf });
        const open = turns.filter(({ turnIndex }) => turnIndex > coversToTurn);
        if (cost(open) <= maxTokens / 2) expect(upToTurn).toBeNull();
        else if (rests) expect(upToTurn).not.toBeNull();
        if (upToTurn === null) return;
        expect(upToTurn).toBeGreaterThan(coversToTurn);
        const kept = turns.filter(({ turnIndex }) => turnIndex > upToTurn);
        expect(kept[0]?.role).not.toBe('tool');
        if (rests) expect(cost(kept)).toBeLessThanOrEqual(keepTokens);
        else expect(kept.length).toBeGreaterThan(0);
      }),
      runs(500),
    );
  });
});
