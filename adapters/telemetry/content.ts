import type { Attributes } from '@opentelemetry/api';
import type { TurnPart } from '../../machines/event-content.ts';
import type { ModelRequest, ModelResponse, ModelTurn } from '../models/model.contract.ts';

/** Characters of one content, beyond which it is cut: then it is no JSON any more. */
const MAX_CHARACTERS = 65_536;

/** `value` as an attribute holds a content: JSON, cut where it is long; of what JSON cannot hold, `null`. */
export function contentText(value: unknown): string {
  const text = jsonOf(value) ?? 'null';
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** What a model is asked, in the messages of the conventions. */
export function requestContent({ instructions, turns, tools }: ModelRequest): Attributes {
  return {
    'gen_ai.system_instructions': contentText([{ type: 'text', content: instructions }]),
    'gen_ai.input.messages': contentText(turns.map(toMessage)),
    ...(tools.length === 0
      ? {}
      : {
          'gen_ai.tool.definitions': contentText(
            tools.map(({ name, description, inputSchema: parameters }) => ({
              type: 'function',
              name,
              description,
              parameters,
            })),
          ),
        }),
  };
}

/** What a model answered. */
export function responseContent({ text, parts, toolCalls = [], finishReason }: ModelResponse): Attributes {
  const said = parts ?? (text ? [{ type: 'text' as const, text }] : []);
  const calls = toolCalls.map(({ toolName: name, input, providerCallId: id = null }) => ({
    type: 'tool_call',
    id,
    name,
    arguments: input,
  }));
  const message = {
    role: 'assistant',
    parts: [...said.map(toPart), ...calls],
    finish_reason: finishReason ?? 'unknown',
  };
  return { 'gen_ai.output.messages': contentText([message]) };
}

function toMessage({ role, text, parts, answers }: ModelTurn): unknown {
  if (role !== 'tool') return { role, parts: parts.map(toPart) };
  return { role, parts: [{ type: 'tool_call_response', id: answers?.providerCallId ?? null, response: text }] };
}

function toPart(part: TurnPart): unknown {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: part.text };
    case 'toolCall':
      return { type: 'tool_call', id: part.providerCallId, name: part.toolName, arguments: part.input };
    case 'file':
      return { type: 'uri', mime_type: part.mediaType, uri: part.reference };
    default:
      return { type: part.type };
  }
}
