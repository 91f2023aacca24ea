import { raise, triggerFunction } from './raise.sql.ts';

/** Kinds of memories, exactly the values of the CHECK constraint. */
const KINDS = ['summary', 'preference', 'fact', 'episode'];

/** Attempts after which a task is left for doctor to tell of. */
export const MAX_TASK_ATTEMPTS = 10;

/** Characters of a content that full-text search knows of: a `tsvector` holds at most 1 MiB, and every word costs more than its characters. */
const SEARCHED_CHARACTERS = 100_000;

/**
 * What stands in `search` is the database's, whoever writes: of the content, in the language of the row. The language is a name and no
 * `regconfig`, which `pg_upgrade` refuses in a column; it is one of `pg_catalog`, or of the schema of ours.
 *
 * A memory never changes: another one takes its place. What it came from may go; then it is known no more.
 */
const guardBody = (schema: string) => `
  IF NOT EXISTS (SELECT FROM pg_ts_config c WHERE c.cfgname = NEW.language
       AND c.cfgnamespace IN ('pg_catalog'::regnamespace, '${schema}'::regnamespace)) THEN
    ${raise({ code: 'TL082', name: 'memory_language' }, 'no text search configuration % in pg_catalog or %', 'quote_literal(NEW.language)', 'TG_TABLE_SCHEMA')}
  END IF;
  IF TG_OP = 'INSERT' THEN
    IF EXISTS (SELECT FROM agent_sessions s WHERE s.session_id = NEW.session_id AND s.tenant_id = NEW.tenant_id AND s.user_id <> NEW.user_id) THEN
      ${raise({ code: 'TL080', name: 'memory_user' }, 'session % is another user’s', 'NEW.session_id')}
    END IF;
  ELSE
    IF (NEW.tenant_id, NEW.user_id, NEW.memory_id, NEW.kind, NEW.content, NEW.created_at)
       IS DISTINCT FROM (OLD.tenant_id, OLD.user_id, OLD.memory_id, OLD.kind, OLD.content, OLD.created_at)
       OR NEW.session_id IS NOT NULL AND NEW.session_id IS DISTINCT FROM OLD.session_id
       OR NEW.turn_id IS NOT NULL AND NEW.turn_id IS DISTINCT FROM OLD.turn_id
       OR OLD.superseded_at IS NOT NULL AND NEW.superseded_at IS DISTINCT FROM OLD.superseded_at THEN
      ${raise({ code: 'TL081', name: 'memory_immutable' }, 'memory % never changes', 'OLD.memory_id')}
    END IF;
    IF NEW.session_id IS NULL THEN
      NEW.turn_id := NULL;
      NEW.sequence := NULL;
    END IF;
    IF NEW.language = OLD.language THEN
      NEW.search := OLD.search;
      RETURN NEW;
    END IF;
  END IF;
  NEW.search := to_tsvector(quote_ident(NEW.language)::regconfig, left(NEW.content, ${SEARCHED_CHARACTERS}));
  RETURN NEW;`;

/** What users' agents remember, and the work that is owed for it. Vectors stand in a table of their own, which is made where the extension is. */
export function memoriesSql(schema: string): string[] {
  return [
    `CREATE TABLE ${schema}.agent_memories (
  tenant_id varchar(64) NOT NULL,
  user_id varchar(64) NOT NULL,
  memory_id uuid NOT NULL DEFAULT gen_random_uuid(),
  kind varchar(16) NOT NULL,
  content text NOT NULL,
  language varchar(63) NOT NULL DEFAULT 'simple',
  search tsvector,
  session_id uuid,
  turn_id uuid,
  sequence int,
  -- Of a summary of a session: the index of the last turn that it tells of.
  covers_to_turn int,
  superseded_by uuid,
  superseded_at timestamptz,
  expires_at timestamptz,
  metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
  normalised jsonb,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- An id is its owner's: that another has it too tells nothing of them.
  CONSTRAINT agent_memories_pkey PRIMARY KEY (tenant_id, user_id, memory_id),
  CONSTRAINT check_memory_kind CHECK (kind IN (${KINDS.map((kind) => `'${kind}'`).join(', ')})),
  CONSTRAINT check_memory_covers CHECK (covers_to_turn IS NULL OR (kind = 'summary' AND covers_to_turn >= 0)),
  CONSTRAINT check_memory_superseded CHECK (superseded_by IS NULL OR (superseded_at IS NOT NULL AND superseded_by <> memory_id)),
  CONSTRAINT fk_memory_session FOREIGN KEY (tenant_id, session_id)
    REFERENCES ${schema}.agent_sessions (tenant_id, session_id) ON DELETE SET NULL (session_id),
  CONSTRAINT fk_memory_turn FOREIGN KEY (session_id, turn_id)
    REFERENCES ${schema}.agent_turns (session_id, turn_id) ON DELETE SET NULL (turn_id),
  CONSTRAINT fk_memory_superseded FOREIGN KEY (tenant_id, user_id, superseded_by)
    REFERENCES ${schema}.agent_memories (tenant_id, user_id, memory_id) ON DELETE SET NULL (superseded_by)
)`,
    `CREATE INDEX idx_memories_owner ON ${schema}.agent_memories (tenant_id, user_id, created_at)`,
    `CREATE INDEX idx_memories_session ON ${schema}.agent_memories (session_id, turn_id) WHERE session_id IS NOT NULL`,
    `CREATE INDEX idx_memories_summary ON ${schema}.agent_memories (session_id, covers_to_turn)
  WHERE covers_to_turn IS NOT NULL AND superseded_at IS NULL`,
    `CREATE INDEX idx_memories_superseded ON ${schema}.agent_memories (tenant_id, user_id, superseded_by) WHERE superseded_by IS NOT NULL`,
    `CREATE INDEX idx_memories_search ON ${schema}.agent_memories USING gin (search)`,
    // Those that are found no more, by age: what retention reads.
    `CREATE INDEX idx_memories_expired ON ${schema}.agent_memories (expires_at) WHERE expires_at IS NOT NULL`,
    `CREATE INDEX idx_memories_replaced ON ${schema}.agent_memories (superseded_at) WHERE superseded_at IS NOT NULL`,
    triggerFunction(schema, 'guard_memory', guardBody(schema)),
    `CREATE TRIGGER guard_memory BEFORE INSERT OR UPDATE ON ${schema}.agent_memories
  FOR EACH ROW EXECUTE FUNCTION ${schema}.guard_memory()`,
    `CREATE TABLE ${schema}.agent_memory_tasks (
  task_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  tenant_id varchar(64) NOT NULL,
  kind varchar(16) NOT NULL,
  user_id varchar(64),
  memory_id uuid,
  session_id uuid,
  up_to_turn int,
  attempts int NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL,
  last_error_code varchar(64),
  created_at timestamptz NOT NULL,
  CONSTRAINT uq_memory_task_memory UNIQUE (tenant_id, user_id, memory_id),
  CONSTRAINT uq_memory_task_session UNIQUE (tenant_id, session_id),
  CONSTRAINT check_memory_task_kind CHECK (kind IN ('embed', 'summarise')),
  CONSTRAINT check_memory_task_embed CHECK ((kind = 'embed') = (user_id IS NOT NULL AND memory_id IS NOT NULL)),
  CONSTRAINT check_memory_task_summarise CHECK ((kind = 'summarise') = (session_id IS NOT NULL AND up_to_turn IS NOT NULL)),
  CONSTRAINT check_memory_task_attempts CHECK (attempts >= 0),
  CONSTRAINT fk_memory_task_memory FOREIGN KEY (tenant_id, user_id, memory_id)
    REFERENCES ${schema}.agent_memories (tenant_id, user_id, memory_id) ON DELETE CASCADE,
  CONSTRAINT fk_memory_task_session FOREIGN KEY (tenant_id, session_id)
    REFERENCES ${schema}.agent_sessions (tenant_id, session_id) ON DELETE CASCADE
)`,
    `CREATE INDEX idx_memory_tasks_due ON ${schema}.agent_memory_tasks (due_at) WHERE attempts < ${MAX_TASK_ATTEMPTS}`,
  ];
}
