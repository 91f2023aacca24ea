import type { ModelTurn } from '../../adapters/models/model.contract.ts';
import type { TurnPart } from '../../machines/event-content.ts';

/**
 * What is counted of a turn: what it says, and what of it goes to the provider beside that. The contents of a file are elsewhere, so only its
 * reference counts.
 */
export function turnText({ role, text, parts }: Pick<ModelTurn, 'role' | 'text' | 'parts'>): string {
  return role === 'tool' || parts.length === 0 ? text : parts.map(partText).join('\n');
}

function partText(part: TurnPart): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text + metadataText(part.providerMetadata);
    case 'toolCall':
      return `${part.toolName} ${part.rawInput ?? JSON.stringify(part.input)}${metadataText(part.providerMetadata)}`;
    default:
      return JSON.stringify(part);
  }
}

/** Signed reasoning stands there: it goes back to its provider as it came. */
function metadataText(metadata: unknown): string {
  return metadata === undefined ? '' : JSON.stringify(metadata);
}
