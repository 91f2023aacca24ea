import type { ModelContext, ModelDelta, ModelResponse, ModelTurn } from '../../../../adapters/models/model.contract.ts';
import type { Json, TurnPart } from '../../../../machines/event-content.ts';
import type { NewTurn } from '../../../../testing/contracts/model-requests.ts';

/** An assistant turn. */
export function answered(...parts: TurnPart[]): NewTurn {
  return { role: 'assistant', text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''), parts };
}

/** A call, as the runtime stores it. */
export function callPart(ordinal: number, more: Partial<Extract<TurnPart, { type: 'toolCall' }>> = {}): TurnPart {
  const executionId = `00000000-0000-4000-8000-0000000001${String(ordinal).padStart(2, '0')}`;
  return {
    type: 'toolCall',
    ordinal,
    toolName: 'lookup',
    input: {},
    providerCallId: `c${ordinal}`,
    executionId,
    ...more,
  };
}

/** The turn that answers call `ordinal`. */
export function resultOf(
  ordinal: number,
  text: string,
  { outcome = 'succeeded', toolName = 'lookup' }: Partial<NonNullable<ModelTurn['answers']>> = {},
): NewTurn {
  return { role: 'tool', text, parts: [], answers: { ordinal, toolName, outcome, providerCallId: null } };
}

/** Metadata of a part that `provider` made, as it is stored. */
export function madeBy(
  provider: string,
  place: number,
  metadata: { [name: string]: Json } = {},
): { providerMetadata: Json } {
  return { providerMetadata: { ...metadata, turnlock: { provider, place } } };
}

/** What a model is handed beside its request; the deltas are kept. */
export function contextOf(signal = new AbortController().signal): ModelContext & { deltas: ModelDelta[] } {
  const deltas: ModelDelta[] = [];
  return { signal, deltas, emit: (delta) => void deltas.push(delta) };
}

/** The parts of an answer as the runtime stores them: as JSON, the calls after the others. */
export function storedParts({ parts = [], toolCalls = [] }: ModelResponse): TurnPart[] {
  const calls = toolCalls.map(({ toolName, input, providerCallId = null, providerMetadata }, ordinal) =>
    callPart(ordinal, { toolName, input: input as Json, providerCallId, providerMetadata: providerMetadata ?? null }),
  );
  return JSON.parse(JSON.stringify([...parts, ...calls])) as TurnPart[];
}
