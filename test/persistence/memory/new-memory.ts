import { randomUUID } from 'node:crypto';
import type { NewMemory } from '../../../persistence/memory/new-memory.ts';

/** A memory as it is stored, that differs from a plain fact by `over`. */
export function newMemory(content: string, over: Partial<NewMemory> = {}): NewMemory {
  return {
    memoryId: randomUUID(),
    kind: 'fact',
    content,
    language: 'simple',
    metadata: {},
    normalised: null,
    expiresAt: null,
    supersedes: [],
    turnId: null,
    coversToTurn: null,
    ...over,
  };
}
