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

/** A history as rounds. What stands before the first message or answer belongs to something that is not there, and is left out. */
export function roundsOf<Turn extends Cuttable>(
  turns: readonly Turn[],
  tokensOf: (turn: Turn) => number,
): Round<Turn>[] {
  const rounds: Round<Turn>[] = [];
  for (const turn of turns) {
    const opens = turn.role === 'user' || turn.role === 'assistant';
    if (opens) rounds.push({ turns: [], tokens: 0, isMessage: turn.role === 'user' });
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
