import { isTurnlockError } from '../../../errors.ts';
import { MAX_CHARACTERS } from '../../../limits.ts';
import { checkIdentifier } from '../../../persistence/values/check-identifier.ts';
import { kindOf } from '../../../persistence/values/kind-of.ts';
import { readMessages } from './read-messages.ts';
import { quoted, refuseTranscript } from './refuse-transcript.ts';
import type { Transcript } from './transcript.ts';

/**
 * Reads recorded conversations: one JSON object a line with `id` and `messages` in OpenAI's chat format. Blank lines are left out.
 *
 * The turns are what the runtime must write: characters that no column holds are replaced, as the runtime replaces them, and the
 * answers of one assistant message stand in call order.
 *
 * @throws TRANSCRIPT_INVALID naming line, message and problem of the first thing that cannot be rehearsed.
 */
export function parseTranscripts(text: string): Transcript[] {
  const transcripts: Transcript[] = [];
  const lineOfId = new Map<string, number>();
  for (const [index, content] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (content.trim() === '') continue;
    const line = index + 1;
    const transcript = parseLine(content, line);
    const earlier = lineOfId.get(transcript.id);
    if (earlier !== undefined) {
      throw refuseTranscript(
        { line, part: 'id' },
        `${quoted(transcript.id)} of line ${earlier} again`,
        'an id of its own',
      );
    }
    lineOfId.set(transcript.id, line);
    transcripts.push(transcript);
  }
  if (transcripts.length === 0) throw refuseTranscript({ line: 1 }, 'an empty file', 'one conversation a line');
  return transcripts;
}

function parseLine(content: string, line: number): Transcript {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (cause) {
    throw refuseTranscript({ line }, 'no JSON', 'one JSON object', cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuseTranscript({ line }, kindOf(value), 'an object with id and messages');
  }
  const { id, messages } = value as { id?: unknown; messages?: unknown };
  return { id: readId(id, line), ...readMessages(messages, line) };
}

function readId(id: unknown, line: number): string {
  const name = typeof id === 'number' ? String(id) : id;
  try {
    return checkIdentifier(name, { name: 'id', maxCharacters: MAX_CHARACTERS.externalId });
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    const { found = 'too much text' } = error.details as { found?: string };
    throw refuseTranscript({ line, part: 'id' }, found, `1 to ${MAX_CHARACTERS.externalId} characters`);
  }
}
