import type { TurnPart } from '../../../machines/event-content.ts';
import type { ModelTurn } from '../model.contract.ts';
import { filePart } from './file-part.ts';
import { isOf, optionsFor, originOf } from './part-origin.ts';
import type { SdkAssistantPart } from './sdk-types.ts';

/** A call of an assistant turn. */
export type CallPart = Extract<TurnPart, { type: 'toolCall' }>;

/**
 * An assistant turn as `provider` takes it. What it made itself goes back unchanged and in its order; of what another provider made,
 * text, calls and files go, without metadata, and reasoning stays behind: nobody else can read it.
 */
export function assistantParts(
  turn: Pick<ModelTurn, 'parts'>,
  { provider, idOf }: { provider: string; idOf(call: CallPart): string },
): SdkAssistantPart[] {
  const parts = inOrder(turn.parts, provider).flatMap((part) => toSdkPart(part, provider, idOf));
  // Reasoning that nothing follows is refused by providers that sign it.
  const end = parts.findLastIndex((part) => part.type !== 'reasoning');
  return parts.slice(0, end + 1);
}

/** The parts as the provider gave them: the calls, which are stored last, return to their places. */
function inOrder(parts: readonly TurnPart[], provider: string): TurnPart[] {
  const ordered: TurnPart[] = parts.filter((part) => part.type !== 'toolCall');
  for (const call of parts.filter((part) => part.type === 'toolCall')) {
    const place = isOf(provider, call) ? originOf(call)?.place : undefined;
    ordered.splice(place ?? ordered.length, 0, call);
  }
  return ordered;
}

function toSdkPart(part: TurnPart, provider: string, idOf: (call: CallPart) => string): SdkAssistantPart[] {
  const options = optionsFor(provider, part);
  switch (part.type) {
    case 'text':
      return part.text === '' && options.providerOptions === undefined
        ? []
        : [{ type: 'text', text: part.text, ...options }];
    case 'reasoning':
      return isOf(provider, part) ? [{ type: 'reasoning', text: part.text, ...options }] : [];
    case 'custom':
      return isOf(provider, part) ? [{ ...(part.part as unknown as SdkAssistantPart), ...options }] : [];
    case 'file': {
      const file = filePart(part);
      return file === null ? [] : [{ ...file, ...options }];
    }
    case 'toolCall':
      return [
        { type: 'tool-call', toolCallId: idOf(part), toolName: toolNameOf(part), input: inputOf(part), ...options },
      ];
    default:
      return []; // No provider takes sources back.
  }
}

/** A name that a model made up may hold anything; providers refuse a history with such a name. */
export function toolNameOf({ toolName }: { toolName: string }): string {
  return toolName.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

/** The arguments as an object: some providers refuse a history in which a call has others. */
function inputOf({ input, rawInput }: CallPart): unknown {
  if (rawInput !== undefined) return { arguments: rawInput };
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input;
  return input === null ? {} : { arguments: input };
}
