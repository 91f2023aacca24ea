import type { ChatChunk, ChatPart, ChatToolPart } from './chunks.ts';

/** The parts that chunks come to: what a client that was there from the begin on holds. */
export function foldChunks(chunks: readonly ChatChunk[]): ChatPart[] {
  const parts: ChatPart[] = [];
  for (const chunk of chunks) apply(parts, chunk);
  return parts;
}

function apply(parts: ChatPart[], chunk: ChatChunk): undefined {
  switch (chunk.type) {
    case 'start-step':
      parts.push({ type: 'step-start' });
      return;
    case 'text-start':
    case 'reasoning-start':
      parts.push({ type: chunk.type === 'text-start' ? 'text' : 'reasoning', text: '', state: 'streaming' });
      return;
    case 'text-delta':
    case 'reasoning-delta':
      return alter(parts.at(-1), (part) => ({ ...part, text: `${(part as { text: string }).text}${chunk.delta}` }));
    case 'text-end':
    case 'reasoning-end':
      return alter(parts.at(-1), (part) => ({ ...part, state: 'done' }));
    case 'tool-input-available': {
      const { toolCallId, toolName, input } = chunk;
      const known = toolPart(parts, toolCallId);
      if (known !== undefined) return alter(known, () => ({ state: 'input-available', input }));
      parts.push({ type: `tool-${toolName}`, toolCallId, state: 'input-available', input });
      return;
    }
    case 'tool-approval-request': {
      const approval = {
        id: chunk.approvalId,
        ...(chunk.approvalDescriptor === undefined ? {} : { descriptor: chunk.approvalDescriptor }),
        ...(chunk.reason === undefined ? {} : { requestReason: chunk.reason }),
      };
      return alter(toolPart(parts, chunk.toolCallId), () => ({ state: 'approval-requested', approval }));
    }
    case 'tool-approval-response': {
      const { approvalId, approved } = chunk;
      return alter(toolPart(parts, approvalId), ({ approval }) => ({
        state: 'approval-responded',
        approval: { ...approval, id: approvalId, approved },
      }));
    }
    case 'tool-output-available':
      return alter(toolPart(parts, chunk.toolCallId), () => ({ state: 'output-available', output: chunk.output }));
    case 'tool-output-error':
      return alter(toolPart(parts, chunk.toolCallId), () => ({ state: 'output-error', errorText: chunk.errorText }));
    case 'tool-output-denied':
      return alter(toolPart(parts, chunk.toolCallId), () => ({ state: 'output-denied' }));
    case 'data-unknownOutcome':
    case 'data-question':
    case 'data-awaitingOthers':
    case 'data-notice': {
      const { type, id, data } = chunk;
      const known = parts.find((part) => part.type === type && (part as { id?: string }).id === id);
      if (known !== undefined) return alter(known, () => ({ data }));
      parts.push({ type, id, data });
      return;
    }
    default:
      return;
  }
}

function toolPart(parts: readonly ChatPart[], toolCallId: string): ChatToolPart | undefined {
  return parts.find((part): part is ChatToolPart => 'toolCallId' in part && part.toolCallId === toolCallId);
}

function alter<Part extends object>(part: Part | undefined, change: (part: Part) => object): undefined {
  if (part !== undefined) Object.assign(part, change(part));
}
