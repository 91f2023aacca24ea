import { LIMITS, type Limits } from '../../limits.ts';
import { kindOf } from './kind-of.ts';
import { normaliseJson } from './normalise-json.ts';
import { normaliseText } from './normalise-text.ts';

/** Something that was thrown, as it is stored. */
export interface NormalisedError {
  message: string;
  /** The error's own code, or that of the nearest cause that has one. Absent where there is none. */
  code?: string;
  /** `/error` when characters were replaced; empty otherwise. */
  notes: string[];
}

/** Causes and parts of an AggregateError that are looked at. */
const MAX_CAUSES = 5;

/**
 * The storable form of whatever was thrown: an error, text, `null`, an object whose getters throw. Never throws. A message beyond
 * `maxErrorBytes` is cut and says so. Messages of causes are left out, their codes are not: the text is shown to the model.
 */
export function normaliseError(
  thrown: unknown,
  { maxErrorBytes }: Pick<Limits, 'maxErrorBytes'> = LIMITS,
): NormalisedError {
  const { value, notes } = normaliseText(messageOf(thrown), { maxBytes: maxErrorBytes, name: 'error' }, 'truncate');
  const code = codeOf(thrown);
  return code === undefined ? { message: value, notes } : { message: value, code, notes };
}

function messageOf(thrown: unknown): string {
  try {
    return readMessage(thrown);
  } catch {
    return 'thrown: a value that cannot be read';
  }
}

function readMessage(thrown: unknown): string {
  const own = ownMessage(thrown);
  if (own !== undefined) return own;
  const parts = read(thrown, 'errors');
  if (Array.isArray(parts) && parts.length > 0) return partsOf(parts);
  return isErrorLike(thrown) ? `${nameOf(thrown)} without a message` : describe(thrown);
}

function ownMessage(thrown: unknown): string | undefined {
  const message = typeof thrown === 'string' ? thrown : read(thrown, 'message');
  return typeof message === 'string' && message.trim() !== '' ? message : undefined;
}

/** Node reports a refused connection to a host with several addresses as an AggregateError with an empty message. */
function partsOf(parts: unknown[]): string {
  const messages = parts.slice(0, MAX_CAUSES).map((part) => ownMessage(part) ?? describe(part));
  return `${parts.length} errors: ${messages.join('; ')}${parts.length > MAX_CAUSES ? '; …' : ''}`;
}

function isErrorLike(thrown: unknown): boolean {
  return typeof read(thrown, 'message') === 'string' && typeof read(thrown, 'stack') === 'string';
}

function nameOf(thrown: unknown): string {
  const name = read(thrown, 'name');
  return typeof name === 'string' && name !== '' ? name : 'Error';
}

function describe(thrown: unknown): string {
  if (typeof thrown === 'number' || typeof thrown === 'boolean' || typeof thrown === 'bigint')
    return `thrown: ${thrown}`;
  if (typeof thrown !== 'object' || thrown === null)
    return `thrown: ${typeof thrown === 'string' ? 'empty text' : kindOf(thrown)}`;
  try {
    return `thrown: ${JSON.stringify(normaliseJson(thrown, { maxBytes: 4096, maxDepth: 8, name: 'error' }).value)}`;
  } catch {
    return `thrown: ${kindOf(thrown)}`;
  }
}

function codeOf(thrown: unknown): string | undefined {
  for (let error = thrown, depth = 0; depth < MAX_CAUSES && error !== undefined; depth += 1) {
    const code = read(error, 'code');
    if (typeof code === 'number' && Number.isFinite(code)) return String(code);
    if (typeof code === 'string' && /^[\w.:-]{1,64}$/.test(code)) return code;
    error = read(error, 'cause');
  }
  return undefined;
}

/** A property of anything at all: `undefined` where there is none, or where reading it throws. */
function read(value: unknown, property: string): unknown {
  try {
    return (value as Record<string, unknown> | null | undefined)?.[property];
  } catch {
    return undefined;
  }
}
