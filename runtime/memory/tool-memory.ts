import type { ToolRemembered } from '../../adapters/tools/memory.contract.ts';
import type { Limits } from '../../limits.ts';
import { MEMORY_KINDS } from '../../persistence/entities/agent-memory.entity.ts';
import type { NewMemory } from '../../persistence/memory/new-memory.ts';
import { normaliseJson } from '../../persistence/values/normalise-json.ts';
import { normaliseText } from '../../persistence/values/normalise-text.ts';
import { refuseValue } from '../../persistence/values/refuse-value.ts';
import { checkOptions } from '../check-options.ts';
import { optionRefused } from '../check-query.ts';

const OPTIONS = ['kind', 'content', 'metadata', 'expiresAt'];

/**
 * What a tool remembers, checked and normalised.
 *
 * @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE for what cannot be stored.
 */
export function toolMemory(
  memory: ToolRemembered,
  { memoryId, turnId, limits, language }: { memoryId: string; turnId: string; limits: Limits; language: string },
): NewMemory {
  const { kind, content, metadata = {}, expiresAt = null } = checkOptions(memory, 'remember', OPTIONS);
  if (!MEMORY_KINDS.includes(kind)) throw optionRefused('kind', MEMORY_KINDS.join(', '));
  const isTime = expiresAt === null || (expiresAt instanceof Date && !Number.isNaN(expiresAt.getTime()));
  if (!isTime) throw optionRefused('expiresAt', 'a Date');
  const text = normaliseText(content, { maxBytes: limits.maxMemoryBytes, name: 'content' });
  if (text.value.trim() === '') throw refuseValue(['content'], 'nothing', 'text that is not empty');
  const { maxMetadataBytes: maxBytes, maxDepth } = limits;
  const json = normaliseJson(metadata, { maxBytes, maxDepth, name: 'metadata' });
  const isObject = typeof json.value === 'object' && json.value !== null && !Array.isArray(json.value);
  if (!isObject) throw refuseValue(['metadata'], 'another value', 'an object');
  const notes = [...text.notes, ...json.notes];
  return {
    memoryId,
    kind,
    content: text.value,
    language,
    metadata: json.value as NewMemory['metadata'],
    normalised: notes.length === 0 ? null : notes,
    expiresAt,
    supersedes: [],
    turnId,
    coversToTurn: null,
  };
}
