import { isTurnlockError } from '../../../errors.ts';
import { LIMITS } from '../../../limits.ts';
import type { Json } from '../../../machines/event-content.ts';
import { kindOf } from '../../../persistence/values/kind-of.ts';
import { normaliseJson } from '../../../persistence/values/normalise-json.ts';
import { quoted, refuseTranscript, type TranscriptPlace } from './refuse-transcript.ts';
import type { RecordedCall } from './transcript.ts';

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The calls of an assistant message; their answers are still to come. @throws TRANSCRIPT_INVALID. */
export function readCalls(calls: unknown, place: TranscriptPlace): RecordedCall[] {
  if (calls === undefined || calls === null) return [];
  if (!Array.isArray(calls)) throw refuseTranscript({ ...place, part: 'tool_calls' }, kindOf(calls), 'an array');
  const read: RecordedCall[] = [];
  for (const [index, call] of calls.entries()) {
    const part = `tool call ${index + 1}`;
    const { id, function: asked } = (call ?? {}) as {
      id?: unknown;
      function?: { name?: unknown; arguments?: unknown };
    };
    if (typeof id !== 'string' || id === '')
      throw refuseTranscript({ ...place, part: `${part}, id` }, kindOf(id), 'text');
    if (read.some((earlier) => earlier.id === id)) {
      throw refuseTranscript(
        { ...place, part: `${part}, id` },
        `${quoted(id)} again`,
        'ids that differ within a message',
      );
    }
    if (typeof asked?.name !== 'string' || !TOOL_NAME.test(asked.name)) {
      throw refuseTranscript(
        { ...place, part: `${part}, function.name` },
        quoted(asked?.name),
        '1 to 64 of A-Z a-z 0-9 _ -',
      );
    }
    const input = readArguments(asked.arguments, { ...place, part: `${part}, function.arguments` });
    read.push({ id, toolName: asked.name, input, output: '' });
  }
  return read;
}

/** Arguments are JSON in a text; some providers send an empty text for none. */
function readArguments(text: unknown, place: TranscriptPlace): Json {
  if (typeof text !== 'string') throw refuseTranscript(place, kindOf(text), 'JSON in a text');
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch (cause) {
    throw refuseTranscript(place, 'no JSON', 'JSON in a text', cause);
  }
  try {
    return normaliseJson(value, { maxBytes: LIMITS.maxParamsBytes, maxDepth: LIMITS.maxDepth, name: 'arguments' })
      .value;
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    throw refuseTranscript(place, error.message, 'what can be stored', error);
  }
}
