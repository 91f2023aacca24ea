import { raiseFromCall } from './raise.sql.ts';

const INVALID = { code: 'TL060', name: 'argument_invalid' } as const;

/** What one value may be, inclusive: no bound of a runtime is higher. A process could not even read a larger one, and so not refuse it. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_DEPTH = 1_000;

const BOUNDS = `at most ${MAX_BYTES} bytes and ${MAX_DEPTH} levels of each value`;

/** Whether a value of jsonb, which may be NULL, is beyond the bounds. */
function isBeyond(value: string): string {
  return `octet_length(${value}::text) > ${MAX_BYTES} OR jsonb_path_exists(${value}, '$.**{${MAX_DEPTH + 1}}')`;
}

/** Whether `value` is too long for its column. Asked here, since a column cuts blanks off in silence and the id would be another one. */
const isLonger = (value: string, characters: number) => `char_length(${value}) > ${characters}`;

/** The rules for texts that must be there, as conditions of a CASE: its value is the one that is broken. */
function rules(callee: string, texts: readonly (readonly [name: string, characters: number])[]): string {
  return texts
    .map(([name, characters]) => {
      const value = `${callee}.${name}`;
      return `WHEN COALESCE(${value}, '') = '' OR ${isLonger(value, characters)} THEN '${name} must have 1 to ${characters} characters'`;
    })
    .join('\n    ');
}

/*
 * A new session, or the one that has this external id already. Two callers with one external id: the second waits for the first on the
 * unique index, and gets its session. Takes no lock and sets no tenant. In a transaction that sees one moment (REPEATABLE READ), a row that
 * came after that moment is a serialization failure, as PostgreSQL has it: the transaction may be done again.
 */
function createSessionSql(schema: string): string {
  return `CREATE FUNCTION ${schema}.create_session(
  tenant_id text, user_id text, agent_name text, agent_version int, active_model_id text, machine_id text, machine_version int,
  snapshot jsonb, external_id text DEFAULT NULL, metadata jsonb DEFAULT '{}'::jsonb, normalised jsonb DEFAULT NULL,
  OUT created_session_id uuid, OUT is_new boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp AS $$
#variable_conflict use_column
DECLARE
  found_user text;
  found_agent text;
  moment timestamptz := turnlock_now();
  broken text := CASE
    ${rules('create_session', [
      ['tenant_id', 64],
      ['user_id', 64],
      ['agent_name', 64],
      ['active_model_id', 64],
    ])}
    WHEN COALESCE(create_session.agent_version, 0) < 1 THEN 'agent_version must be 1 or more'
    WHEN create_session.machine_id IS DISTINCT FROM 'session' THEN 'machine_id must be session'
    WHEN COALESCE(create_session.machine_version, 0) < 1 THEN 'machine_version must be 1 or more'
    WHEN jsonb_typeof(create_session.snapshot) IS DISTINCT FROM 'object' THEN 'snapshot must be an object'
    WHEN create_session.external_id = '' OR ${isLonger('create_session.external_id', 255)} THEN 'external_id must be null or have 1 to 255 characters'
    WHEN jsonb_typeof(create_session.metadata) IS DISTINCT FROM 'object' THEN 'metadata must be an object'
  END;
BEGIN
  IF broken IS NOT NULL THEN
    ${raiseFromCall(INVALID, 'create_session: %', 'broken')}
  END IF;
  IF ${isBeyond('create_session.snapshot')} OR ${isBeyond('create_session.metadata')} OR ${isBeyond('create_session.normalised')} THEN
    ${raiseFromCall(INVALID, `create_session takes ${BOUNDS}`)}
  END IF;
  LOOP
    INSERT INTO agent_sessions (tenant_id, user_id, agent_name, agent_version, active_model_id, machine_id, machine_version,
        snapshot, external_id, metadata, normalised, created_at, updated_at)
      VALUES (create_session.tenant_id, create_session.user_id,
        create_session.agent_name, create_session.agent_version, create_session.active_model_id, create_session.machine_id,
        create_session.machine_version, create_session.snapshot, create_session.external_id, create_session.metadata,
        create_session.normalised, moment, moment)
      ON CONFLICT ON CONSTRAINT uq_session_external_id DO NOTHING
      RETURNING agent_sessions.session_id INTO created_session_id;
    is_new := created_session_id IS NOT NULL;
    IF is_new THEN RETURN; END IF;
    SELECT s.session_id, s.user_id, s.agent_name INTO created_session_id, found_user, found_agent FROM agent_sessions s
      WHERE s.tenant_id = create_session.tenant_id AND s.external_id = create_session.external_id;
    -- Not found: it was removed in between, and the external id is free.
    EXIT WHEN FOUND;
  END LOOP;
  IF found_user IS DISTINCT FROM create_session.user_id OR found_agent IS DISTINCT FROM create_session.agent_name THEN
    ${raiseFromCall({ code: 'TL062', name: 'external_id_conflict' }, 'the external id belongs to session %, of another user or agent', 'created_session_id')}
  END IF;
END
$$`;
}

/*
 * A message into the inbox, and nothing else: no lock and no version, so that the caller's transaction holds up nobody. The row's trigger
 * refuses COMPLETED and notifies at the caller's commit. The same message id with the same content answers the waiting row; whether a
 * message that was taken already comes again is told by the session when it takes the row. REPEATABLE READ is as above.
 */
function enqueueSql(schema: string): string {
  return `CREATE FUNCTION ${schema}.enqueue(
  tenant_id text, session_id uuid, message_id text, content text, when_busy text DEFAULT 'enqueue', parts jsonb DEFAULT NULL,
  metadata jsonb DEFAULT '{}'::jsonb, normalised jsonb DEFAULT NULL, run_id uuid DEFAULT NULL,
  OUT enqueued_inbox_id uuid, OUT enqueued_run_id uuid, OUT is_new boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp AS $$
#variable_conflict use_column
DECLARE
  found_content text;
  found_metadata jsonb;
  broken text := CASE
    WHEN COALESCE(enqueue.tenant_id, '') = '' THEN 'tenant_id must not be empty'
    WHEN enqueue.session_id IS NULL THEN 'session_id must not be null'
    WHEN enqueue.message_id = '' OR ${isLonger('enqueue.message_id', 255)} THEN 'message_id must be null or have 1 to 255 characters'
    WHEN enqueue.content IS NULL THEN 'content must not be null'
    WHEN enqueue.when_busy IS NULL OR enqueue.when_busy NOT IN ('enqueue', 'reject', 'interrupt', 'supersede')
      THEN 'when_busy must be enqueue, reject, interrupt or supersede'
    WHEN enqueue.parts IS NOT NULL AND jsonb_typeof(enqueue.parts) <> 'array' THEN 'parts must be null or an array'
    WHEN jsonb_typeof(enqueue.metadata) IS DISTINCT FROM 'object' THEN 'metadata must be an object'
  END;
BEGIN
  IF broken IS NOT NULL THEN
    ${raiseFromCall(INVALID, 'enqueue: %', 'broken')}
  END IF;
  IF octet_length(enqueue.content) > ${MAX_BYTES} OR ${isBeyond('enqueue.parts')} OR ${isBeyond('enqueue.metadata')} OR ${isBeyond('enqueue.normalised')} THEN
    ${raiseFromCall(INVALID, `enqueue takes ${BOUNDS}`)}
  END IF;
  -- The transcript shows the content, the model is shown the parts: they say the same.
  IF enqueue.parts IS NOT NULL AND enqueue.content <> (SELECT COALESCE(string_agg(part ->> 'text', '' ORDER BY place), '')
       FROM jsonb_array_elements(enqueue.parts) WITH ORDINALITY AS given(part, place) WHERE part ->> 'type' = 'text') THEN
    ${raiseFromCall(INVALID, 'enqueue takes as content the text of the parts, where parts are given')}
  END IF;
  -- Locked as the foreign key would lock it: while retention removes the session, this waits and then finds none.
  PERFORM FROM agent_sessions s WHERE s.session_id = enqueue.session_id AND s.tenant_id = enqueue.tenant_id FOR KEY SHARE;
  IF NOT FOUND THEN
    ${raiseFromCall({ code: 'TL061', name: 'session_missing' }, 'the tenant has no session %', 'enqueue.session_id')}
  END IF;
  LOOP
    INSERT INTO agent_inbox (tenant_id, session_id, message_id, run_id, content, parts, metadata, when_busy, normalised, created_at)
      VALUES (enqueue.tenant_id, enqueue.session_id, enqueue.message_id, COALESCE(enqueue.run_id, gen_random_uuid()), enqueue.content,
        COALESCE(enqueue.parts, jsonb_build_array(jsonb_build_object('type', 'text', 'text', enqueue.content))), enqueue.metadata,
        enqueue.when_busy, enqueue.normalised, turnlock_now())
      ON CONFLICT ON CONSTRAINT uq_inbox_message DO NOTHING
      RETURNING agent_inbox.inbox_id, agent_inbox.run_id INTO enqueued_inbox_id, enqueued_run_id;
    is_new := enqueued_inbox_id IS NOT NULL;
    IF is_new THEN RETURN; END IF;
    SELECT i.inbox_id, i.run_id, i.content, i.metadata INTO enqueued_inbox_id, enqueued_run_id, found_content, found_metadata FROM agent_inbox i
      WHERE i.session_id = enqueue.session_id AND i.message_id = enqueue.message_id;
    -- Not found: the session took it in between. It is put in again, and the session tells whether it is the same.
    EXIT WHEN FOUND;
  END LOOP;
  IF found_content <> enqueue.content OR found_metadata <> enqueue.metadata THEN
    ${raiseFromCall({ code: 'TL063', name: 'message_conflict' }, 'session % has a message of this id with another content', 'enqueue.session_id')}
  END IF;
END
$$`;
}

/** What other programs call from SQL, granted to the client role. */
export function clientFunctionsSql(schema: string): string[] {
  return [createSessionSql(schema), enqueueSql(schema)];
}
