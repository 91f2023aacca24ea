import type { ModelDelta, ModelResponse } from '../adapters/models/model.contract.ts';
import { TurnlockError } from '../errors.ts';
import type { TurnPart } from '../machines/event-content.ts';
import { kindOf } from '../persistence/values/kind-of.ts';

/** The texts that a part of each type must have. Calls stand in `toolCalls` and are no parts of an answer. */
const PART_TEXTS: Readonly<Record<Exclude<TurnPart['type'], 'toolCall'>, readonly string[]>> = {
  text: ['text'],
  reasoning: ['text'],
  file: ['mediaType', 'reference'],
  source: [],
  custom: [],
};

/**
 * `answer`, if it has the form that the port to models asks for. What its values hold is checked where they are made storable. `null`
 * stands for what is absent.
 *
 * @throws MODEL_FAILED, not retryable, with the place, found and wanted: a model of ours or of a user that is written wrongly.
 */
export function checkAnswer(answer: unknown, modelId: string): ModelResponse {
  const refuse: Refuse = (place, found, wanted) =>
    refused(`answer not accepted: ${place} of ${modelId}`, found, wanted);
  if (!isObject(answer)) throw refuse('the whole', answer, 'an object');
  const { text, parts, toolCalls, usage, finishReason, providerRequestId } = answer;
  for (const [place, value] of Object.entries({ text, finishReason, providerRequestId })) {
    if (isThere(value) && typeof value !== 'string') throw refuse(`/${place}`, value, 'text');
  }
  for (const [place, part] of listOf(parts, '/parts', refuse)) checkPart(part, `/parts/${place}`, refuse);
  for (const [place, call] of listOf(toolCalls, '/toolCalls', refuse)) {
    if (!isObject(call)) throw refuse(`/toolCalls/${place}`, call, 'a call');
    const { invalidInput } = call;
    if (isThere(invalidInput) && typeof invalidInput !== 'string') {
      throw refuse(`/toolCalls/${place}/invalidInput`, invalidInput, 'text');
    }
  }
  if (isThere(usage)) checkUsage(usage, refuse);
  return answer as ModelResponse;
}

/** @throws MODEL_FAILED, not retryable, unless `delta` is a piece of an answer. */
export function checkDelta(delta: unknown, modelId: string): ModelDelta {
  const { type, text } = isObject(delta) ? delta : {};
  if (typeof text === 'string' && (type === 'text' || type === 'reasoning')) return { type, text };
  throw refused(`delta not accepted: of ${modelId}`, delta, "type 'text' or 'reasoning', and text");
}

type Refuse = (place: string, found: unknown, wanted: string) => TurnlockError;

function refused(what: string, found: unknown, wanted: string): TurnlockError {
  const kind = typeof found === 'number' ? String(found) : typeof found === 'string' ? 'text' : kindOf(found);
  return new TurnlockError('MODEL_FAILED', { message: `${what} (found ${kind}, wanted ${wanted})`, retryable: false });
}

function checkPart(part: unknown, place: string, refuse: Refuse): void {
  if (!isObject(part)) throw refuse(place, part, 'a part');
  const { type } = part;
  if (typeof type !== 'string' || !Object.hasOwn(PART_TEXTS, type)) {
    throw refuse(`${place}/type`, type, Object.keys(PART_TEXTS).join(', '));
  }
  for (const name of PART_TEXTS[type as keyof typeof PART_TEXTS]) {
    if (typeof part[name] !== 'string') throw refuse(`${place}/${name}`, part[name], 'text');
  }
}

function checkUsage(usage: unknown, refuse: Refuse): void {
  if (!isObject(usage)) throw refuse('/usage', usage, 'an object');
  for (const [name, count] of Object.entries(usage)) {
    if (isThere(count) && !(typeof count === 'number' && Number.isFinite(count) && count >= 0)) {
      throw refuse(`/usage/${name.slice(0, 64)}`, count, 'a number from 0 on');
    }
  }
}

/** The entries of a list, holes among them; none where it is absent. */
function listOf(list: unknown, place: string, refuse: Refuse): Iterable<[number, unknown]> {
  if (!isThere(list)) return [];
  if (!Array.isArray(list)) throw refuse(place, list, 'an array');
  return list.entries();
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
