import type { EntityManager } from '@mikro-orm/postgresql';
import type { SessionKey } from '../read-session.ts';

/** Which prefix goes where. */
export interface Prefix {
  origin: SessionKey;
  /** The session that it is copied into. */
  sessionId: string;
  /** The last turn of it. */
  cut: number;
}

/**
 * The id that a row of the origin has in the fork `f.fork`: a UUID of version 8 (RFC 9562, section 5.8) from SHA-256 over both, so that links
 * between copied rows can be written without a table of ids. NULL stays NULL.
 */
const idOf = (column: string) => `overlay(overlay(encode(substring(sha256(convert_to(f.fork || ${column}::text, 'UTF8'))
  from 1 for 16), 'hex') placing '8' from 13 for 1) placing 'a' from 17 for 1)::uuid`;

/** The idempotency key of a call in a session: `turnIdempotencyKey`, from the digest that the row has. */
const keyOf = (
  session: string,
  ordinal = '',
) => `'tl1_' || encode(sha256(convert_to('["turn",' || to_json(${session})::text || ','
  || t.turn_index || ',' || to_json(e.tool_name::text)::text || ',' || to_json(e.params_digest::text)::text${ordinal} || ']', 'UTF8')), 'hex')`;

/** Calls name their executions: those of the fork. Everything else in a part is as the provider gave it. */
const PARTS = `case when t.role <> 'assistant' then t.parts else (
    select coalesce(jsonb_agg(case when p.value ->> 'type' = 'toolCall' and p.value -> 'executionId' is not null
        then jsonb_set(p.value, '{executionId}', to_jsonb(${idOf("(p.value ->> 'executionId')")})) else p.value end
      order by p.ordinality), '[]'::jsonb)
    from jsonb_array_elements(t.parts) with ordinality p) end`;

/** Copies the turns of a prefix: one statement, however many. Their times are those of the origin. */
export async function copyTurns(em: EntityManager, { origin, sessionId, cut }: Prefix): Promise<void> {
  await em.execute(
    `insert into turnlock.agent_turns (turn_id, tenant_id, session_id, turn_index, run_id, role, content, parts, token_usage_json,
        execution_id, call_turn_id, call_ordinal, normalised, metadata, created_at)
      select ${idOf('t.turn_id')}, t.tenant_id, f.fork::uuid, t.turn_index, ${idOf('t.run_id')}, t.role, t.content, ${PARTS},
             t.token_usage_json, ${idOf('t.execution_id')}, ${idOf('t.call_turn_id')}, t.call_ordinal, t.normalised, t.metadata,
             t.created_at
        from turnlock.agent_turns t cross join (select ?::text as fork) f
       where t.tenant_id = ? and t.session_id = ? and t.turn_index <= ?::int
       order by t.turn_index`,
    [sessionId, origin.tenantId, origin.sessionId, cut],
  );
}

/**
 * Copies the executions of the prefix's calls: one statement, however many. They are marked (`copiedFrom` in their metadata) and were never
 * started here: attempt 0, no token, no claim, no cost. Each has a key of its own, made from the digest that the row has, so it collides with
 * none of the origin's and answers none.
 */
export async function copyExecutions(em: EntityManager, { origin, sessionId, cut }: Prefix): Promise<void> {
  const repeated = keyOf('f.fork', " || ',' || e.ordinal");
  await em.execute(
    `insert into turnlock.agent_tool_executions (execution_id, tenant_id, session_id, turn_id, run_id, ordinal, tool_name, tool_version,
        effect, idempotency_key, input_parameters, params_digest, provider_call_id, raw_input, answered_by, status, attempt,
        output_payload, error_message, error_code, started_at, completed_at, unknown_at, unknown_reason, settled_by,
        upgraded_parameters, upgraded_digest, upgraded_version, normalised, metadata)
      select ${idOf('e.execution_id')}, e.tenant_id, f.fork::uuid, ${idOf('e.turn_id')}, ${idOf('e.run_id')}, e.ordinal, e.tool_name,
             e.tool_version, e.effect,
             case when e.idempotency_key = ${keyOf('e.session_id')} then ${keyOf('f.fork')} else ${repeated} end,
             e.input_parameters, e.params_digest, e.provider_call_id, e.raw_input,
             case when a.session_id = e.session_id then ${idOf('e.answered_by')} else e.answered_by end, e.status, 0,
             e.output_payload, e.error_message, e.error_code, e.started_at, e.completed_at, e.unknown_at, e.unknown_reason, e.settled_by,
             e.upgraded_parameters, e.upgraded_digest, e.upgraded_version, e.normalised,
             e.metadata || jsonb_build_object('copiedFrom', e.execution_id)
        from turnlock.agent_tool_executions e
        join turnlock.agent_turns t on t.turn_id = e.turn_id
        left join turnlock.agent_tool_executions a on a.tenant_id = e.tenant_id and a.execution_id = e.answered_by
       cross join (select ?::text as fork) f
       where e.tenant_id = ? and e.session_id = ? and t.turn_index <= ?::int`,
    [sessionId, origin.tenantId, origin.sessionId, cut],
  );
}
