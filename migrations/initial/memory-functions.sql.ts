import { MAX_TASK_ATTEMPTS } from './memories.sql.ts';
import { raiseFromCall } from './raise.sql.ts';

/** What one content may be: no bound of a runtime is higher. */
const MAX_BYTES = 1024 * 1024;
const MAX_METADATA_BYTES = 64 * 1024 * 1024;
const MAX_DEPTH = 1_000;

/** Memories that one may take the place of. */
const MAX_SUPERSEDED = 1_000;

const isLonger = (value: string, characters: number) => `char_length(${value}) > ${characters}`;
const isNoName = (value: string, characters: number) => `COALESCE(${value}, '') = '' OR ${isLonger(value, characters)}`;

/*
 * A memory, and what it takes the place of, in whatever transaction the caller is in. As the caller: of a role of ours row-level security holds.
 *
 * The row is inserted first: of two with one id the second waits for the first, and is then told that it is a repeat. Rows that are superseded
 * are locked in the order of their ids, so that two callers do not wait for each other.
 *
 * Where vectors are kept, one is owed: the table of their settings is looked for at each call, since a migration does not make it.
 */
function storeMemorySql(schema: string): string {
  return `CREATE FUNCTION ${schema}.store_memory(
  tenant_id text, user_id text, kind text, content text, memory_id uuid DEFAULT NULL, language text DEFAULT 'simple',
  metadata jsonb DEFAULT '{}'::jsonb, normalised jsonb DEFAULT NULL, expires_at timestamptz DEFAULT NULL, supersedes uuid[] DEFAULT '{}'::uuid[],
  session_id uuid DEFAULT NULL, turn_id uuid DEFAULT NULL, sequence int DEFAULT NULL, covers_to_turn int DEFAULT NULL,
  OUT stored_memory_id uuid, OUT stored_at timestamptz, OUT is_new boolean, OUT owed_task_id uuid
) LANGUAGE plpgsql SET search_path = pg_catalog, ${schema}, pg_temp AS $$
#variable_conflict use_column
DECLARE
  wanted uuid[] := ARRAY(SELECT DISTINCT id FROM unnest(store_memory.supersedes) id);
  there uuid[];
  replaced timestamptz[];
  kept ${schema}.agent_memories;
BEGIN
  stored_memory_id := COALESCE(store_memory.memory_id, gen_random_uuid());
  stored_at := turnlock_now();
  INSERT INTO agent_memories (tenant_id, user_id, memory_id, kind, content, language, session_id, turn_id, sequence, covers_to_turn,
      expires_at, metadata, normalised, created_at, updated_at)
    VALUES (store_memory.tenant_id, store_memory.user_id, stored_memory_id, store_memory.kind, store_memory.content, store_memory.language,
      store_memory.session_id, store_memory.turn_id, store_memory.sequence, store_memory.covers_to_turn, store_memory.expires_at,
      store_memory.metadata, store_memory.normalised, stored_at, stored_at)
    ON CONFLICT ON CONSTRAINT agent_memories_pkey DO NOTHING;
  is_new := FOUND;
  IF NOT is_new THEN
    SELECT m.* INTO kept FROM agent_memories m
      WHERE m.tenant_id = store_memory.tenant_id AND m.user_id = store_memory.user_id AND m.memory_id = stored_memory_id;
    IF (kept.kind, kept.content, kept.metadata, kept.expires_at)
       IS DISTINCT FROM (store_memory.kind, store_memory.content, store_memory.metadata, store_memory.expires_at) THEN
      ${raiseFromCall({ code: 'TL064', name: 'memory_conflict' }, 'memory % is there with another content', 'stored_memory_id')}
    END IF;
    stored_at := kept.created_at;
    RETURN;
  END IF;
  IF wanted <> '{}' THEN
    SELECT array_agg(one.memory_id), array_agg(one.superseded_at) FILTER (WHERE one.superseded_at IS NOT NULL) INTO there, replaced
      FROM (SELECT m.memory_id, m.superseded_at FROM agent_memories m
        WHERE m.tenant_id = store_memory.tenant_id AND m.user_id = store_memory.user_id AND m.memory_id = ANY (wanted)
          AND m.memory_id <> stored_memory_id ORDER BY m.memory_id FOR NO KEY UPDATE) one;
    IF COALESCE(cardinality(there), 0) <> cardinality(wanted) THEN
      ${raiseFromCall({ code: 'TL065', name: 'memory_missing' }, 'the user has not all of the memories that are to be superseded')}
    END IF;
    IF replaced IS NOT NULL THEN
      ${raiseFromCall({ code: 'TL066', name: 'memory_superseded' }, 'a memory that is to be superseded was superseded before')}
    END IF;
    UPDATE agent_memories m SET superseded_by = stored_memory_id, superseded_at = stored_at, updated_at = stored_at
      WHERE m.tenant_id = store_memory.tenant_id AND m.user_id = store_memory.user_id AND m.memory_id = ANY (wanted);
    DELETE FROM agent_memory_tasks t
      WHERE t.tenant_id = store_memory.tenant_id AND t.user_id = store_memory.user_id AND t.memory_id = ANY (wanted);
  END IF;
  IF to_regclass('${schema}.agent_memory_embedding_settings') IS NOT NULL THEN
    INSERT INTO agent_memory_tasks (tenant_id, kind, user_id, memory_id, due_at, created_at)
      VALUES (store_memory.tenant_id, 'embed', store_memory.user_id, stored_memory_id, stored_at, stored_at)
      RETURNING task_id INTO owed_task_id;
  END IF;
END
$$`;
}

/** What other programs call from SQL, and a runtime in a transaction of its caller's: checked, since nobody else has. */
function rememberSql(schema: string): string {
  return `CREATE FUNCTION ${schema}.remember(
  tenant_id text, user_id text, kind text, content text, memory_id uuid DEFAULT NULL, language text DEFAULT 'simple',
  metadata jsonb DEFAULT '{}'::jsonb, normalised jsonb DEFAULT NULL, expires_at timestamptz DEFAULT NULL, supersedes uuid[] DEFAULT '{}'::uuid[],
  OUT remembered_id uuid, OUT is_new boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp AS $$
#variable_conflict use_column
DECLARE
  broken text := CASE
    WHEN ${isNoName('remember.tenant_id', 64)} THEN 'tenant_id must have 1 to 64 characters'
    WHEN ${isNoName('remember.user_id', 64)} THEN 'user_id must have 1 to 64 characters'
    WHEN remember.kind IS NULL OR remember.kind NOT IN ('summary', 'preference', 'fact', 'episode')
      THEN 'kind must be summary, preference, fact or episode'
    WHEN COALESCE(remember.content, '') = '' THEN 'content must not be empty'
    WHEN octet_length(remember.content) > ${MAX_BYTES} THEN 'content must have at most ${MAX_BYTES} bytes'
    WHEN ${isNoName('remember.language', 63)} THEN 'language must have 1 to 63 characters'
    WHEN jsonb_typeof(remember.metadata) IS DISTINCT FROM 'object' THEN 'metadata must be an object'
    WHEN octet_length(remember.metadata::text) > ${MAX_METADATA_BYTES} OR jsonb_path_exists(remember.metadata, '$.**{${MAX_DEPTH + 1}}')
      THEN 'metadata must have at most ${MAX_METADATA_BYTES} bytes and ${MAX_DEPTH} levels'
    WHEN remember.expires_at = 'infinity' OR remember.expires_at = '-infinity' THEN 'expires_at must be a moment'
    WHEN remember.supersedes IS NULL OR cardinality(remember.supersedes) > ${MAX_SUPERSEDED} OR array_position(remember.supersedes, NULL) IS NOT NULL
      THEN 'supersedes must have at most ${MAX_SUPERSEDED} ids'
  END;
BEGIN
  IF broken IS NOT NULL THEN
    ${raiseFromCall({ code: 'TL060', name: 'argument_invalid' }, 'remember: %', 'broken')}
  END IF;
  SELECT s.stored_memory_id, s.is_new INTO remembered_id, is_new FROM store_memory(
    tenant_id => remember.tenant_id, user_id => remember.user_id, kind => remember.kind, content => remember.content,
    memory_id => remember.memory_id, language => remember.language, metadata => remember.metadata, normalised => remember.normalised,
    expires_at => date_trunc('milliseconds', remember.expires_at), supersedes => remember.supersedes) s;
END
$$`;
}

/*
 * Tasks that are due, of any tenant: of these kinds, where sessions are to be summarised of these agents, where `only_tasks` is not NULL of
 * those. What another worker looks at in the same instant is skipped. Whoever claims one has it for `lease_ms`, and has used up an attempt,
 * whatever becomes of it; so it is done at least once, by somebody. What it is about is read as its tenant.
 */
function claimTasksSql(schema: string): string {
  return `CREATE FUNCTION ${schema}.claim_memory_tasks(
  max_tasks int, kinds text[], agents text[], lease_ms int, only_tasks uuid[] DEFAULT NULL
) RETURNS TABLE (tenant_id varchar(64), task_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := turnlock_now();
BEGIN
  RETURN QUERY UPDATE agent_memory_tasks t
    SET attempts = t.attempts + 1, due_at = moment + claim_memory_tasks.lease_ms * interval '1 millisecond'
    FROM (SELECT due.task_id FROM agent_memory_tasks due
      WHERE due.attempts < ${MAX_TASK_ATTEMPTS} AND due.due_at <= moment AND due.kind = ANY (claim_memory_tasks.kinds)
        AND (claim_memory_tasks.only_tasks IS NULL OR due.task_id = ANY (claim_memory_tasks.only_tasks))
        AND (due.kind <> 'summarise' OR EXISTS (SELECT FROM agent_sessions s
          WHERE s.session_id = due.session_id AND s.agent_name = ANY (claim_memory_tasks.agents)))
      ORDER BY due.due_at LIMIT LEAST(GREATEST(claim_memory_tasks.max_tasks, 0), 1000) FOR UPDATE SKIP LOCKED) claimed
    WHERE t.task_id = claimed.task_id
    RETURNING t.tenant_id, t.task_id;
END
$$`;
}

/** What is remembered, and the work that is owed for it. */
export function memoryFunctionsSql(schema: string): string[] {
  return [storeMemorySql(schema), rememberSql(schema), claimTasksSql(schema)];
}
