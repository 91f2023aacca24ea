import { inspect } from 'node:util';
import { FAULT_POINTS } from '../../environment.ts';
import { TurnlockError } from '../../errors.ts';
import type { Fault, FaultKind } from './fault-plan.ts';

const KINDS: readonly FaultKind[] = ['crash', 'stall', 'disconnect', 'timeout'];
const POINTS: readonly Fault['point'][] = [...FAULT_POINTS, 'place', 'any'];

/** A word, a name in quotes, a number behind its sign, or the mark between two faults. */
const TOKEN = /\s*(?:([A-Za-z]+)|'((?:[^']|'')*)'|#([1-9]\d{0,8})(?!\d)|(;))/y;

interface Token {
  /** Where it begins, from 0 on. */
  at: number;
  /** As it stands in the text; empty at its end. */
  text: string;
  word?: string | undefined;
  name?: string | undefined;
  number?: number | undefined;
}

/**
 * Reads faults from a text such as `crash at commitSent #2; stall at 'after the bank'; timeout at afterStatement #3`: what happens, at which point
 * or at which place of a tool's own (in single quotes, a quote in it twice), and at which of its passages, from 1 on; without a number at the
 * first. `place` is any place, `any` any point. An empty text has no faults.
 *
 * @throws OPTIONS_INVALID for any other text, with `details.position`, from 0 on.
 */
export function readFaults(text: string): Fault[] {
  const tokens = tokensOf(text);
  const faults: Fault[] = [];
  if (tokens[0]?.text === '') return faults;
  for (let place = 0; ; ) {
    const next = (): Token => tokens[place++] as Token;
    const kind = next();
    const fault = KINDS.find((one) => one === kind.word);
    if (fault === undefined) throw refused(kind, `one of ${KINDS.join(', ')}`);
    const at = next();
    if (at.word !== 'at') throw refused(at, 'at');
    const where = next();
    const point = where.name === undefined ? POINTS.find((one) => one === where.word) : 'place';
    if (point === undefined) throw refused(where, `a place in quotes, or one of ${POINTS.join(', ')}`);
    let end = next();
    const occurrence = end.number ?? 1;
    if (end.number !== undefined) end = next();
    faults.push({ point, ...(where.name === undefined ? {} : { place: where.name }), occurrence, fault });
    if (end.text === '') return faults;
    if (end.text !== ';') throw refused(end, 'a number such as #2, a semicolon, or the end');
  }
}

/** @throws OPTIONS_INVALID for what is no list of faults, as a program without types may give it. */
export function checkFaults(faults: readonly Fault[]): void {
  if (!Array.isArray(faults)) throw notAccepted(faults, 'a text or a list');
  for (const fault of faults as readonly Partial<Fault>[]) {
    const { point, place, occurrence = 1, where, fault: what } = fault ?? {};
    if (point === undefined || !POINTS.includes(point)) throw notAccepted(point, `one of ${POINTS.join(', ')}`);
    if (typeof what !== 'function' && !KINDS.some((kind) => kind === what)) {
      throw notAccepted(what, `one of ${KINDS.join(', ')}, or a function`);
    }
    if (place !== undefined && typeof place !== 'string') throw notAccepted(place, 'the name of a place');
    if (!Number.isSafeInteger(occurrence) || occurrence < 1) throw notAccepted(occurrence, 'an occurrence from 1 on');
    if (where !== undefined && typeof where !== 'function') throw notAccepted(where, 'a function of a passage');
  }
}

function notAccepted(found: unknown, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `fault not accepted: ${inspect(found, { depth: 0 })} (wanted ${wanted})`,
  });
}

/**
 * Faults as text, from which {@link readFaults} makes them again.
 *
 * @throws OPTIONS_INVALID for a fault with a function: it has no text. For what is no fault.
 */
export function writeFaults(faults: readonly Fault[]): string {
  checkFaults(faults);
  return faults.map(writeFault).join('; ');
}

function writeFault({ point, place, occurrence = 1, where, fault }: Fault): string {
  if (where !== undefined || typeof fault === 'function') {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `fault not accepted: ${point} (found a function, which has no text)`,
    });
  }
  const at = place === undefined ? point : `'${place.replaceAll("'", "''")}'`;
  return `${fault} at ${at}${occurrence === 1 ? '' : ` #${occurrence}`}`;
}

/** The tokens of a text, with one for its end. @throws OPTIONS_INVALID for what is none. */
function tokensOf(text: string): Token[] {
  if (typeof text !== 'string') throw refused({ at: 0, text: typeof text }, 'a text');
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  for (let from = 0; from < end; from = TOKEN.lastIndex) {
    TOKEN.lastIndex = from;
    const found = TOKEN.exec(text);
    const at = from + /^\s*/.exec(text.slice(from))![0].length;
    if (found === null)
      throw refused({ at, text: text.slice(at, at + 12) }, 'a word, a place in quotes, a number or a semicolon');
    const [, word, name, number] = found;
    tokens.push({
      at,
      text: text.slice(at, TOKEN.lastIndex),
      word,
      name: name?.replaceAll("''", "'"),
      number: number === undefined ? undefined : Number(number),
    });
  }
  return [...tokens, { at: end, text: '' }];
}

function refused({ at, text }: Token, wanted: string): TurnlockError {
  const found = text === '' ? 'the end' : JSON.stringify(text);
  return new TurnlockError('OPTIONS_INVALID', {
    message: `faults not accepted: their text at position ${at} (found ${found}, wanted ${wanted})`,
    details: { position: at },
  });
}
