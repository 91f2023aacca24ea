import type { Environment } from '../../environment.ts';
import { type Limits, MAX_CHARACTERS } from '../../limits.ts';
import { MEMORY_KINDS } from '../../persistence/entities/agent-memory.entity.ts';
import type { Forgotten } from '../../persistence/memory/forget-memories.ts';
import type { MemoryKind, MemoryOwner, NewMemory } from '../../persistence/memory/new-memory.ts';
import type { MemoryFilter } from '../../persistence/memory/recall-memories.ts';
import { checkIdentifier } from '../../persistence/values/check-identifier.ts';
import { checkUuid } from '../../persistence/values/check-uuid.ts';
import { normaliseText } from '../../persistence/values/normalise-text.ts';
import { checkMetadata } from '../check-message.ts';
import { checkOptions } from '../check-options.ts';
import { checkTenant, optionRefused } from '../check-query.ts';
import { checkLanguage } from './memory-options.ts';

/** What is to be remembered. */
export interface Remembered {
  /** `fact`: what holds; `preference`: what the user wants; `episode`: what happened; `summary`: what was said in short. */
  kind: MemoryKind;
  /** 1 byte to `limits.maxMemoryBytes`. */
  content: string;
  /** The text search configuration by which its words are found. Default: that of the runtime. */
  language?: string;
  /** JSON of the caller, at most `limits.maxMetadataBytes`. Default none. */
  metadata?: { [name: string]: unknown };
  /** From then on it is not found any more; by the database's clock. Default: it stays. */
  expiresAt?: Date;
  /** Ids of memories of the same user whose place it takes: they are found no more. Each only once. Default none. */
  supersedes?: readonly string[];
  /** A UUID of the caller's: a repeat with the same content answers with the memory of then. Default: a new one with each call. */
  memoryId?: string;
}

/** What `recall` takes. */
export interface RecallOptions {
  /** What is looked for, in words of any language; of a longer one the first 10,000 characters. Empty: the newest memories. */
  query: string;
  /** Only these. Default: all kinds. */
  kinds?: readonly MemoryKind[];
  /** Only what came from this session. */
  sessionId?: string;
  /** How many at the most, a whole number from 1 to 100. Default 10. */
  limit?: number;
  /** Only what was remembered later. */
  newerThan?: Date;
  /** Only what was remembered earlier. */
  olderThan?: Date;
  /** Whether what was superseded may be found too. Default false. */
  includeSuperseded?: boolean;
  /**
   * `hybrid`: by words and by meaning; by words alone where the runtime has no vectors. `text`: by words. `vector`: by meaning alone, or
   * not at all. Default `hybrid`.
   */
  by?: 'hybrid' | 'text' | 'vector';
}

/** What `forget` takes: ids, or conditions that all must hold, and `all: true` for every memory that fits. */
export type ForgetOptions =
  | { memoryIds: readonly string[] }
  | { all: true; kinds?: readonly MemoryKind[]; sessionId?: string; olderThan?: Date };

/** What `list` takes. */
export interface ListMemoriesOptions {
  kinds?: readonly MemoryKind[];
  /** How many at the most, a whole number from 1 to 1000. Default 50. */
  limit?: number;
  /** The `memoryId` of the last one of the page before. */
  after?: string;
  /** Whether what was superseded is shown too. Default false. */
  includeSuperseded?: boolean;
}

/** Characters of a query that count: a whole message may be one, and neither a `tsvector` nor an embedder takes any length. */
const MAX_QUERIED = 10_000;

const MAX_RECALLED = 100;
const MAX_LISTED = 1_000;
const MAX_IDS = 1_000;
const REMEMBERED = ['kind', 'content', 'language', 'metadata', 'expiresAt', 'supersedes', 'memoryId', 'sessionId'];

/** @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkOwner(given: MemoryOwner): MemoryOwner {
  const { tenantId, userId } = checkOptions(given, 'memory', ['tenantId', 'userId']);
  return {
    tenantId: checkTenant(tenantId),
    userId: checkIdentifier(userId, { name: 'userId', maxCharacters: MAX_CHARACTERS.userId }),
  };
}

/** What is to be remembered, checked and normalised; nothing is written. @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkRemembered(
  given: Remembered,
  { limits, environment, language }: { limits: Limits; environment: Environment; language: string },
): NewMemory {
  const {
    kind,
    content,
    metadata = {},
    expiresAt,
    supersedes = [],
    memoryId,
  } = checkOptions(given, 'remember', REMEMBERED);
  if (!MEMORY_KINDS.includes(kind)) throw optionRefused('kind', MEMORY_KINDS.join(', '));
  const text = normaliseText(content, { maxBytes: limits.maxMemoryBytes, name: 'content' });
  if (text.value.trim() === '') throw optionRefused('content', 'a text');
  const extra = checkMetadata(metadata, limits);
  const notes = [...text.notes, ...extra.notes];
  return {
    memoryId: memoryId === undefined ? environment.uuid() : checkUuid(memoryId, 'memoryId'),
    kind,
    content: text.value,
    language: checkLanguage(given.language ?? language),
    metadata: extra.value,
    normalised: notes.length > 0 ? notes : null,
    expiresAt: expiresAt === undefined ? null : checkDate(expiresAt, 'expiresAt'),
    supersedes: checkIds(supersedes, 'supersedes'),
    turnId: null,
    coversToTurn: null,
  };
}

/** The checked options of a search. */
export interface CheckedRecall extends MemoryFilter {
  query: string;
  limit: number;
  by: NonNullable<RecallOptions['by']>;
}

const RECALL = ['query', 'kinds', 'sessionId', 'limit', 'newerThan', 'olderThan', 'includeSuperseded', 'by'];

/** @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkRecall(given: RecallOptions, limits: Limits): CheckedRecall {
  const { query, limit = 10, by = 'hybrid', ...filter } = checkOptions(given, 'recall', RECALL);
  if (!['hybrid', 'text', 'vector'].includes(by)) throw optionRefused('by', 'hybrid, text or vector');
  const text = normaliseText(query, { maxBytes: limits.maxMessageBytes, name: 'query' }).value.trim();
  return {
    query: text.slice(0, MAX_QUERIED).toWellFormed(),
    by,
    limit: checkCount(limit, MAX_RECALLED),
    ...checkFilter(filter),
  };
}

/** @throws OPTIONS_INVALID, VALUE_INVALID. */
export function checkList(given: ListMemoriesOptions): MemoryFilter & { limit: number; after?: string } {
  const {
    limit = 50,
    after,
    ...filter
  } = checkOptions(given, 'list', ['kinds', 'limit', 'after', 'includeSuperseded']);
  return {
    limit: checkCount(limit, MAX_LISTED),
    ...(after === undefined ? {} : { after: checkUuid(after, 'after') }),
    ...checkFilter(filter),
  };
}

/** @throws OPTIONS_INVALID, VALUE_INVALID. */
export function checkForget(given: ForgetOptions): Forgotten {
  const { memoryIds, all, ...conditions } = checkOptions(given, 'forget', [
    ...['memoryIds', 'all', 'kinds', 'sessionId', 'olderThan'],
  ]) as { memoryIds?: readonly string[]; all?: boolean } & Pick<RecallOptions, 'kinds' | 'sessionId' | 'olderThan'>;
  if (memoryIds !== undefined) {
    if (Object.keys(given).length > 1) throw optionRefused('memoryIds', 'nothing beside it');
    return { memoryIds: checkIds(memoryIds, 'memoryIds') };
  }
  if (all !== true) throw optionRefused('all', 'true, or memoryIds');
  const { kinds, sessionId, olderThan } = checkFilter(conditions);
  return {
    ...(kinds === undefined ? {} : { kinds }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(olderThan === undefined ? {} : { olderThan }),
  };
}

function checkFilter({
  kinds,
  sessionId,
  newerThan,
  olderThan,
  includeSuperseded,
}: Partial<
  Pick<RecallOptions, 'kinds' | 'sessionId' | 'newerThan' | 'olderThan' | 'includeSuperseded'>
>): MemoryFilter {
  if (includeSuperseded !== undefined && typeof includeSuperseded !== 'boolean') {
    throw optionRefused('includeSuperseded', 'true or false');
  }
  return {
    ...(kinds === undefined ? {} : { kinds: checkKinds(kinds) }),
    ...(sessionId === undefined ? {} : { sessionId: checkUuid(sessionId, 'sessionId') }),
    ...(newerThan === undefined ? {} : { newerThan: checkDate(newerThan, 'newerThan') }),
    ...(olderThan === undefined ? {} : { olderThan: checkDate(olderThan, 'olderThan') }),
    ...(includeSuperseded === true ? { includesSuperseded: true } : {}),
  };
}

function checkKinds(kinds: readonly MemoryKind[]): readonly MemoryKind[] {
  if (Array.isArray(kinds) && kinds.length > 0 && kinds.every((kind) => MEMORY_KINDS.includes(kind))) return kinds;
  throw optionRefused('kinds', `at least one of ${MEMORY_KINDS.join(', ')}`);
}

function checkIds(ids: readonly string[], name: string): string[] {
  if (!Array.isArray(ids) || ids.length > MAX_IDS) throw optionRefused(name, `an array of at most ${MAX_IDS} ids`);
  return [...new Set(ids.map((id) => checkUuid(id, name)))];
}

function checkCount(count: number, max: number): number {
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  throw optionRefused('limit', `a whole number from 1 to ${max}`);
}

/** What a Date of JavaScript and a timestamptz both hold. */
function checkDate(date: Date, name: string): Date {
  const year = date instanceof Date ? date.getUTCFullYear() : Number.NaN;
  if (year >= 1 && year <= 9999) return date;
  throw optionRefused(name, 'a date of the years 1 to 9999');
}
