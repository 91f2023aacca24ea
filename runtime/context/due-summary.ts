import { type Cuttable, firstIndexOf, type Round, roundsOf } from './rounds.ts';

/** From what it is told whether a summary is due. */
export interface SummaryAsked<Turn extends Cuttable> {
  turns: readonly Turn[];
  /** The last turn that a summary stands for; -1 where there is none. */
  coversToTurn: number;
  /** The budget of what a model is given. */
  maxTokens: number;
  /** Tokens of the newest turns that no summary takes the place of. */
  keepTokens: number;
  /** Whether the session rests: else what stands last is still worked on, and is kept. */
  rests: boolean;
  tokensOf(turn: Turn): number;
}

/**
 * The turn up to which a summary is due; `null` where none is. A pure function.
 *
 * It is due once the turns that no summary stands for take more than half of the budget: before the budget itself is met, so that nothing
 * falls out of the window that no summary tells of. The newest turns, `keepTokens` of them, stay as they are; what is kept begins with a
 * message of a user where there is one in it, else with an answer.
 */
export function dueSummary<Turn extends Cuttable>(asked: SummaryAsked<Turn>): number | null {
  const isOpen = ({ turnIndex }: Turn) => turnIndex > asked.coversToTurn;
  const rounds = roundsOf(asked.turns.filter(isOpen), asked.tokensOf, asked.coversToTurn);
  const tokens = rounds.reduce((sum, round) => sum + round.tokens, 0);
  if (tokens <= asked.maxTokens / 2) return null;
  const first = firstKept(rounds, asked);
  const kept = first === rounds.length ? null : (rounds[first] as Round<Turn>);
  const upToTurn = kept === null ? (asked.turns.at(-1)?.turnIndex ?? -1) : firstIndexOf(kept) - 1;
  return upToTurn > asked.coversToTurn ? upToTurn : null;
}

/** The place of the first round that is kept; the number of rounds where none is. */
function firstKept<Turn extends Cuttable>(
  rounds: readonly Round<Turn>[],
  { keepTokens, rests }: SummaryAsked<Turn>,
): number {
  let place = rounds.length;
  let tokens = 0;
  while (place > 0) {
    tokens += (rounds[place - 1] as Round<Turn>).tokens;
    const isWorkedOn = !rests && place === rounds.length;
    if (tokens > keepTokens && !isWorkedOn) break;
    place -= 1;
  }
  const message = rounds.findIndex(({ isMessage }, at) => isMessage && at >= place);
  return message < 0 ? place : message;
}
