import { isTurnlockError } from '../../../errors.ts';
import { LIMITS } from '../../../limits.ts';
import { kindOf } from '../../../persistence/values/kind-of.ts';
import { normaliseText } from '../../../persistence/values/normalise-text.ts';
import { quoted, refuseTranscript, type TranscriptPlace } from './refuse-transcript.ts';

/** The content of a message as one text: a text, or parts that are all text. @throws TRANSCRIPT_INVALID. */
export function readText(content: unknown, place: TranscriptPlace): string {
  const text = Array.isArray(content) ? content.map((part: unknown) => readPart(part, place)).join('') : content;
  if (typeof text !== 'string') throw refuseTranscript({ ...place, part: 'content' }, kindOf(text), 'text');
  try {
    return normaliseText(text, { maxBytes: LIMITS.maxMessageBytes, name: 'content' }).value;
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    throw refuseTranscript({ ...place, part: 'content' }, error.message, 'what can be stored', error);
  }
}

function readPart(part: unknown, place: TranscriptPlace): string {
  const { type, text } = (part ?? {}) as { type?: unknown; text?: unknown };
  if (type === 'text' && typeof text === 'string') return text;
  throw refuseTranscript({ ...place, part: 'content' }, `a part of type ${quoted(type)}`, 'parts of type "text" only');
}
