/** What of a turn decides where a history may be cut. */
export interface Cuttable {
  turnIndex: number;
  role: 'user' | 'assistant' | 'system' | 'tool';
}

/** Turns that stand or fall together: a user's message, or an answer with the results of its calls. Notices go with what they follow. */
export interface Round<Turn extends Cuttable> {
  turns: Turn[];
  tokens: number;
  /** Whether a user's message opens it. */
  isMessage: boolean;
}

/**
 * A history as rounds. A result before the first of them belongs to a call that is not there, and is left out. A notice that came when what it
 * follows had been summarised up to `coversToTurn`, or is not there, is a round of its own: no summary tells of it.
 */
export function roundsOf<Turn extends Cuttable>(
  turns: readonly Turn[],
  tokensOf: (turn: Turn) => number,
  coversToTurn: number = -1,
): Round<Turn>[] {
  const rounds: Round<Turn>[] = [];
  for (const turn of turns) {
    const before = rounds.at(-1)?.turns.at(-1);
    const isLate = turn.role === 'system' && turn.turnIndex > coversToTurn && (before?.turnIndex ?? -1) <= coversToTurn;
    if (turn.role === 'user' || turn.role === 'assistant' || isLate)
      rounds.push({ turns: [], tokens: 0, isMessage: turn.role === 'user' });
    const round = rounds.at(-1);
    round?.turns.push(turn);
    if (round !== undefined) round.tokens += tokensOf(turn);
  }
  return rounds;
}

/** The index of a round's first turn. */
export function firstIndexOf<Turn extends Cuttable>(round: Round<Turn>): number {
  return (round.turns[0] as Turn).turnIndex;
}
