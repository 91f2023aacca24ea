import type { ModelTurn } from '../../adapters/models/model.contract.ts';
import type { CountTokens } from './count-tokens.ts';
import { shortened } from './cut-to-tokens.ts';
import { quoted } from './quoted.ts';
import { roundsOf } from './rounds.ts';

/** A part of a history as text for a summariser. */
export interface Transcript {
  text: string;
  /** The index of the last turn in it; `null` where there are no turns. */
  upToTurn: number | null;
}

/** Characters that are kept of what a tool was given, and of what it returned. */
const TOOL_CHARACTERS = 1_000;

/**
 * As many rounds of `turns` as have `maxTokens`, from the oldest one: with roles, what went into tools and came out shortened. The first round
 * is in it in any case, with its texts shortened to what there is room for.
 */
export function transcriptOf(
  turns: readonly ModelTurn[],
  { maxTokens, countTokens }: { maxTokens: number; countTokens: CountTokens },
): Transcript {
  const rounds = roundsOf(turns, () => 0).map((round) => round.turns);
  let text = '';
  let upToTurn: number | null = null;
  let tokens = 0;
  for (const round of rounds) {
    const written = upToTurn === null ? firstRound(round, maxTokens, countTokens) : write(round);
    tokens += countTokens(written) + 1;
    if (upToTurn !== null && tokens > maxTokens) break;
    text += `${written}\n`;
    upToTurn = (round.at(-1) as ModelTurn).turnIndex;
  }
  return { text, upToTurn };
}

/** Halved until it fits, so that a summary goes on whatever was said. */
function firstRound(round: readonly ModelTurn[], maxTokens: number, countTokens: CountTokens): string {
  let maxCharacters = Number.POSITIVE_INFINITY;
  let written = write(round);
  while (countTokens(written) > maxTokens && maxCharacters > 50) {
    const longest = Math.max(...round.map(({ text }) => text.length), 100);
    maxCharacters = Math.floor(Math.min(maxCharacters, longest) / 2);
    written = write(round, maxCharacters);
  }
  return countTokens(written) <= maxTokens ? written : withoutMiddle(round, maxCharacters, maxTokens, countTokens);
}

/** A round of so many calls that they have no room even when they are short: its first and last elements, and how many are left out. */
function withoutMiddle(
  round: readonly ModelTurn[],
  maxCharacters: number,
  maxTokens: number,
  countTokens: CountTokens,
): string {
  const elements = round.flatMap((turn) => elementsOf(turn, maxCharacters));
  for (let kept = elements.length; ; kept = Math.floor(kept * 0.8)) {
    const first = Math.ceil(kept / 2);
    const note = `[… ${elements.length - kept} calls and results left out …]`;
    const written = [...elements.slice(0, first), note, ...elements.slice(elements.length - (kept - first))].join('\n');
    if (kept === 0 || countTokens(written) <= maxTokens) return written;
  }
}

function write(round: readonly ModelTurn[], maxCharacters: number = Number.POSITIVE_INFINITY): string {
  return round.flatMap((turn) => elementsOf(turn, maxCharacters)).join('\n');
}

function elementsOf({ role, text, parts, answers }: ModelTurn, maxCharacters: number): string[] {
  const ofTools = Math.min(TOOL_CHARACTERS, maxCharacters);
  if (role === 'tool') {
    const { toolName = '', outcome = 'unknown' } = answers ?? {};
    return [`<result tool="${quoted(toolName)}" outcome="${outcome}">${quoted(shortened(text, ofTools))}</result>`];
  }
  const calls = parts.flatMap((part) => (part.type === 'toolCall' ? [part] : []));
  const files = parts.flatMap((part) => (part.type === 'file' ? [part] : []));
  return [
    ...(text.trim() === '' ? [] : [`<${role}>${quoted(shortened(text, maxCharacters))}</${role}>`]),
    ...files.map(({ mediaType }) => `<file of="${role}" type="${quoted(mediaType)}"/>`),
    ...calls.map(({ toolName, input, rawInput }) => {
      const given = shortened(rawInput ?? JSON.stringify(input), ofTools);
      return `<call tool="${quoted(toolName)}">${quoted(given)}</call>`;
    }),
  ];
}
