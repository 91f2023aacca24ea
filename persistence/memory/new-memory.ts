import type { EntityManager } from '@mikro-orm/postgresql';
import type { Json, Normalised } from '../../machines/event-content.ts';
import type { MEMORY_KINDS } from '../entities/agent-memory.entity.ts';

/** What a memory is. */
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** Whose memories: there is no way to another user's. */
export interface MemoryOwner {
  tenantId: string;
  userId: string;
}

/** A memory that is to be stored: checked and normalised. */
export interface NewMemory {
  /** Its owner's: the same with the same content is a repeat. */
  memoryId: string;
  kind: MemoryKind;
  content: string;
  /** The text search configuration by which its words are found. */
  language: string;
  metadata: { [name: string]: Json };
  normalised: Normalised;
  expiresAt: Date | null;
  /** Memories of the same owner whose place it takes: none of them may be superseded already. */
  supersedes: readonly string[];
  /** The turn that it came from, of the session that stores it; `null` where it came from none. */
  turnId: string | null;
  /** Of a summary of a session: the index of the last turn that it tells of. */
  coversToTurn: number | null;
}

/** The commit of a session that stores a memory. */
export interface MemoryProvenance {
  sessionId: string;
  /** Of its transition. */
  sequence: number;
}

/** What became of it. */
export interface StoredMemory {
  memoryId: string;
  /** By the database's clock. */
  createdAt: Date;
  /** Whether it was there already. */
  repeated: boolean;
  /** The task that makes its vector; `null` where no vectors are kept, and for a repeat. */
  taskId: string | null;
}

interface Row {
  id: string;
  at: string;
  is_new: boolean;
  task_id: string | null;
}

/**
 * Stores a memory in whatever transaction `em` is in, and supersedes what it takes the place of. Nothing is embedded now: where vectors are
 * kept, a task is owed with the same commit.
 *
 * @throws MEMORY_CONFLICT when the id is there with another content, or what is to be superseded was superseded before.
 * @throws MEMORY_NOT_FOUND when the owner has not all of what is to be superseded. SESSION_NOT_FOUND for a session of another user.
 * OPTIONS_INVALID for a language that the database does not have.
 */
export async function insertMemory(
  em: EntityManager,
  { tenantId, userId }: MemoryOwner,
  memory: NewMemory,
  provenance: MemoryProvenance | null = null,
): Promise<StoredMemory> {
  const { memoryId, kind, content, language, metadata, normalised, expiresAt, supersedes } = memory;
  const [row] = (await em.execute(
    `select stored_memory_id as id, (extract(epoch from stored_at) * 1000)::bigint::text as at, is_new, owed_task_id as task_id
       from turnlock.store_memory(tenant_id => ?, user_id => ?, kind => ?, content => ?, memory_id => ?::uuid, language => ?,
         metadata => ?::jsonb, normalised => ?::jsonb, expires_at => ?::timestamptz, supersedes => ?::uuid[], session_id => ?::uuid,
         turn_id => ?::uuid, sequence => ?::int, covers_to_turn => ?::int)`,
    [
      ...[tenantId, userId, kind, content, memoryId, language, JSON.stringify(metadata)],
      normalised === null ? null : JSON.stringify(normalised),
      expiresAt === null ? null : expiresAt.toISOString(),
      `{${supersedes.join(',')}}`,
      provenance?.sessionId ?? null,
      provenance === null ? null : memory.turnId,
      provenance?.sequence ?? null,
      memory.coversToTurn,
    ],
  )) as [Row];
  return { memoryId: row.id, createdAt: new Date(Number(row.at)), repeated: !row.is_new, taskId: row.task_id };
}
