import { type Cuttable, firstIndexOf, type Round, roundsOf } from './rounds.ts';

/** From what a window is selected. */
export interface WindowAsked<Turn extends Cuttable> {
  /** A valid history, by index, or the end of one. */
  turns: readonly Turn[];
  /** The last turn that a summary stands for: it and those before are not shown again; -1 where there is none. */
  coversToTurn: number;
  /** Tokens that the turns may have. */
  maxTokens: number;
  tokensOf(turn: Turn): number;
}

/** What a model is shown of a history. */
export interface Window<Turn extends Cuttable> {
  turns: Turn[];
  tokens: number;
  /** The indexes between the first and the last turn that are not shown; `null` where all are. */
  leftOut: { from: number; to: number } | null;
}

/**
 * The newest turns that fit: always a valid history, and within `maxTokens` whenever that is possible. A pure function.
 *
 * The last message of a user and what stands last are kept in any case: without them the model knows neither its task nor what it did last.
 * The rest is kept round by round, from the newest one, without a hole. Where the first round that is kept is no message, the message of its
 * run is kept before it: providers want a history that begins with one.
 */
export function selectWindow<Turn extends Cuttable>(asked: WindowAsked<Turn>): Window<Turn> {
  const rounds = roundsOf(asked.turns, asked.tokensOf, asked.coversToTurn);
  if (rounds.length === 0) return { turns: [], tokens: 0, leftOut: null };
  const last = rounds.length - 1;
  const message = messageOf(rounds);
  let best: Kept = { from: last, opener: message, tokens: tokensAt(rounds, [last, message]) };
  let { tokens } = best;
  const openers = openersOf(rounds);
  for (let place = last - 1; place >= 0; place -= 1) {
    const round = rounds[place] as Round<Turn>;
    if (firstIndexOf(round) <= asked.coversToTurn) break;
    if (place !== message) tokens += round.tokens;
    if (tokens > asked.maxTokens && place !== message) break;
    const opener = openers[place] ?? null;
    if (opener === null) continue;
    const isCounted = opener >= place || opener === message;
    const all = tokens + (isCounted ? 0 : (rounds[opener] as Round<Turn>).tokens);
    if (all <= asked.maxTokens || place === message) best = { from: place, opener, tokens: all };
  }
  return toWindow(rounds, best, message);
}

/** What is kept: all rounds from one on, before them the message that opens it, and the last message. */
interface Kept {
  from: number;
  opener: number | null;
  tokens: number;
}

/** Tokens of what is kept in any case. */
export function leastTokens<Turn extends Cuttable>({
  turns,
  coversToTurn,
  tokensOf,
}: Omit<WindowAsked<Turn>, 'maxTokens'>): number {
  const rounds = roundsOf(turns, tokensOf, coversToTurn);
  return rounds.length === 0 ? 0 : tokensAt(rounds, [rounds.length - 1, messageOf(rounds)]);
}

/** The place of the last message; `null` where there is none. */
function messageOf<Turn extends Cuttable>(rounds: readonly Round<Turn>[]): number | null {
  const place = rounds.findLastIndex(({ isMessage }) => isMessage);
  return place < 0 ? null : place;
}

/** For each round the message that has to stand before it: itself where it is one; `null` where none is there. */
function openersOf<Turn extends Cuttable>(rounds: readonly Round<Turn>[]): (number | null)[] {
  let opener: number | null = null;
  return rounds.map(({ isMessage }, place) => {
    if (isMessage) opener = place;
    return opener;
  });
}

function tokensAt<Turn extends Cuttable>(rounds: readonly Round<Turn>[], places: readonly (number | null)[]): number {
  return [...new Set(places)].reduce<number>((sum, place) => sum + (rounds[place ?? -1]?.tokens ?? 0), 0);
}

function toWindow<Turn extends Cuttable>(
  rounds: readonly Round<Turn>[],
  { from, opener, tokens }: Kept,
  message: number | null,
): Window<Turn> {
  const isKept = (place: number) => place >= from || place === opener || place === message;
  const turns = rounds.flatMap((round, place) => (isKept(place) ? round.turns : []));
  const gap = turns.findIndex(({ turnIndex }, at) => at > 0 && turnIndex !== (turns[at - 1] as Turn).turnIndex + 1);
  if (gap < 0) return { turns, tokens, leftOut: null };
  const first = (turns[gap - 1] as Turn).turnIndex + 1;
  return { turns, tokens, leftOut: { from: first, to: (turns[gap] as Turn).turnIndex - 1 } };
}
