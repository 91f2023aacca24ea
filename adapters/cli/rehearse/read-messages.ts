import { kindOf } from '../../../persistence/values/kind-of.ts';
import { readCalls } from './read-calls.ts';
import { readText } from './read-text.ts';
import { quoted, refuseTranscript, type TranscriptPlace } from './refuse-transcript.ts';
import type { RecordedCall, RecordedTurn, Transcript } from './transcript.ts';

interface Message {
  role?: unknown;
  content?: unknown;
  tool_calls?: unknown;
  tool_call_id?: unknown;
}

/** What has been read so far of one conversation. */
interface Reading {
  instructions: string | null;
  turns: RecordedTurn[];
  /** The calls of the last assistant message that have no answer yet, by id. */
  open: Map<string, RecordedCall>;
  /** The calls of the last assistant message, in order. */
  asked: RecordedCall[];
}

/** The messages of one conversation as turns. @throws TRANSCRIPT_INVALID. */
export function readMessages(messages: unknown, line: number): Pick<Transcript, 'instructions' | 'turns'> {
  if (!Array.isArray(messages)) throw refuseTranscript({ line, part: 'messages' }, kindOf(messages), 'an array');
  const reading: Reading = { instructions: null, turns: [], open: new Map(), asked: [] };
  for (const [index, message] of messages.entries()) {
    const place = { line, message: index + 1 };
    if (typeof message !== 'object' || message === null)
      throw refuseTranscript(place, kindOf(message), 'an object with role and content');
    readMessage(reading, message as Message, place);
  }
  const [unanswered] = reading.open.values();
  if (unanswered !== undefined) {
    throw refuseTranscript(
      { line, message: messages.length },
      `the end before the answer to call ${quoted(unanswered.id)}`,
      'a tool message for every call',
    );
  }
  if (reading.turns.length === 0) throw refuseTranscript({ line, part: 'messages' }, 'no message', "a user's message");
  return { instructions: reading.instructions, turns: reading.turns };
}

function readMessage(reading: Reading, message: Message, place: TranscriptPlace): void {
  const { role } = message;
  if (role === 'tool') {
    readAnswer(reading, message, place);
    return;
  }
  const [unanswered] = reading.open.values();
  if (unanswered !== undefined) {
    throw refuseTranscript(
      place,
      `role ${quoted(role)} before the answer to call ${quoted(unanswered.id)}`,
      'a tool message',
    );
  }
  switch (role) {
    case 'system':
    case 'developer':
      if (place.message !== 1) throw refuseTranscript(place, `role ${quoted(role)}`, 'it as the first message only');
      reading.instructions = readText(message.content, place);
      return;
    case 'user':
      reading.turns.push({ role, text: readText(message.content, place) });
      return;
    case 'assistant':
      readAssistant(reading, message, place);
      return;
    default:
      throw refuseTranscript(place, `role ${quoted(role)}`, 'system, user, assistant or tool');
  }
}

function readAssistant(reading: Reading, message: Message, place: TranscriptPlace): void {
  const before = reading.turns.at(-1)?.role;
  if (before === undefined || before === 'assistant') {
    const found = before === undefined ? 'an assistant who speaks first' : 'two assistant messages in a row';
    throw refuseTranscript(place, found, 'a message that a user or a tool comes before');
  }
  const calls = readCalls(message.tool_calls, place);
  reading.turns.push({ role: 'assistant', text: readText(message.content ?? '', place), calls });
  reading.asked = calls;
  reading.open = new Map(calls.map((call) => [call.id, call]));
}

function readAnswer(reading: Reading, message: Message, place: TranscriptPlace): void {
  const id = message.tool_call_id;
  const call = typeof id === 'string' ? reading.open.get(id) : undefined;
  if (call === undefined) {
    const wanted =
      reading.open.size === 0
        ? 'an assistant message with tool_calls before it'
        : 'the id of a call that has no answer yet';
    throw refuseTranscript(place, `a tool message for call ${quoted(id)}`, wanted);
  }
  call.output = readText(message.content, place);
  reading.open.delete(call.id);
  if (reading.open.size > 0) return;
  reading.turns.push(
    ...reading.asked.map(({ toolName, output }) => ({ role: 'tool' as const, toolName, text: output })),
  );
}
