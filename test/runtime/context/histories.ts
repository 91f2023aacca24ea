import fc from 'fast-check';
import type { Cuttable } from '../../../runtime/context/rounds.ts';

/** A turn of a history that was made up, with what it costs. */
export interface MadeTurn extends Cuttable {
  tokens: number;
  /** Of an assistant's: how many calls it has. Of a tool's: the index of the turn whose call it answers. */
  calls: number;
}

export const tokensOf = ({ tokens }: MadeTurn): number => tokens;

interface Step {
  role: 'user' | 'assistant' | 'system';
  calls: number;
  costs: number[];
}

/** Valid histories: every call has its tool turn directly behind it; notices stand anywhere else. The first turn is a message. */
export function histories(maxTurns = 40): fc.Arbitrary<MadeTurn[]> {
  const step: fc.Arbitrary<Step> = fc.record({
    role: fc.constantFrom('user', 'assistant', 'assistant', 'system'),
    calls: fc.nat({ max: 3 }),
    costs: fc.array(fc.nat({ max: 50 }), { minLength: 4, maxLength: 4 }),
  });
  return fc.array(step, { maxLength: maxTurns }).map((steps) => {
    const turns: MadeTurn[] = [{ turnIndex: 0, role: 'user', tokens: steps[0]?.costs[0] ?? 1, calls: 0 }];
    for (const { role, calls, costs } of steps) {
      const turnIndex = turns.length;
      const asked = role === 'assistant' ? calls : 0;
      turns.push({ turnIndex, role, tokens: costs[0] ?? 1, calls: asked });
      for (let ordinal = 0; ordinal < asked; ordinal += 1) {
        turns.push({ turnIndex: turns.length, role: 'tool', tokens: costs[ordinal + 1] ?? 1, calls: turnIndex });
      }
    }
    return turns;
  });
}

/** Why a provider would refuse a history; `null` where none would. */
export function whyInvalid(turns: readonly MadeTurn[]): string | null {
  if (turns.length > 0 && turns[0]?.role !== 'user') return `begins with ${turns[0]?.role}`;
  for (const [at, turn] of turns.entries()) {
    if (at > 0 && turn.turnIndex <= (turns[at - 1] as MadeTurn).turnIndex) return `turn ${turn.turnIndex} out of order`;
    if (turn.role === 'tool' && !turns.some(({ turnIndex }) => turnIndex === turn.calls))
      return 'a result without call';
    if (turn.role !== 'assistant') continue;
    const answers = turns.slice(at + 1, at + 1 + turn.calls);
    const isAnswered = answers.length === turn.calls && answers.every((answer) => answer.calls === turn.turnIndex);
    if (!isAnswered || answers.some(({ role }) => role !== 'tool')) return `call of turn ${turn.turnIndex} unanswered`;
  }
  return null;
}
