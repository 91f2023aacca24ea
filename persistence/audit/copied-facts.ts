import type { EntityManager } from '@mikro-orm/postgresql';
import type { SessionKey } from '../read-session.ts';

/** What the first transition of a fork vouches for: the copied prefix, however long, digested by the database. */
export interface CopiedFacts {
  turnsDigest: string;
  outcomesDigest: string;
  /** The same of what the two above leave out of the rows. */
  rows: { turns: string; executions: string };
  /** The copied executions, in the order of their calls. */
  executionIds: string[];
}

const digest = (text: string) => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`;

/** SHA-256 of the salt with the SHA-256 of each row's facts, in order: what is hashed never stands in memory as a whole. */
const digestOf = (facts: string, order: string) =>
  digest(`?::text || coalesce(string_agg(${digest(`(${facts})::text`)}, '' order by ${order}), '')`);

const TURN = 'jsonb_build_array(t.turn_index, t.role, t.content, t.parts, t.execution_id, t.call_ordinal)';
const OUTCOME = 'jsonb_build_array(e.execution_id, e.status, e.attempt, e.output_payload, e.error_message)';

const TURN_ROW = `jsonb_build_array(t.turn_id, t.run_id, t.call_turn_id, t.token_usage_json, t.metadata, t.normalised,
  extract(epoch from t.created_at))`;
/* Which call answered it may be forgotten with the session of that call. */
const EXECUTION_ROW = `jsonb_build_array(e.execution_id, e.turn_id, e.run_id, e.ordinal, e.tool_name, e.tool_version, e.effect, e.idempotency_key,
  e.input_parameters, e.params_digest, e.provider_call_id, e.raw_input, e.claim_digest, e.claim_generation, e.cost_micro_money, e.error_code,
  extract(epoch from e.started_at), extract(epoch from e.completed_at), extract(epoch from e.deadline_at), extract(epoch from e.retry_at),
  e.fencing_token, extract(epoch from e.unknown_at), e.unknown_reason, e.settled_by, e.upgraded_parameters, e.upgraded_digest,
  e.upgraded_version, e.metadata, e.normalised)`;

/** The facts of the turns up to `cut`, and of the executions of their calls, as the rows are now. */
export async function readCopiedFacts(
  em: EntityManager,
  { tenantId, sessionId }: SessionKey,
  cut: number,
  salt: string,
): Promise<CopiedFacts> {
  const ofTurns = 't.turn_index';
  const ofCalls = 't.turn_index, e.ordinal';
  const [row] = (await em.execute(
    `select t.*, e.*
      from (
        select ${digestOf(TURN, ofTurns)} as "turnsDigest", ${digestOf(TURN_ROW, ofTurns)} as "turns"
          from turnlock.agent_turns t where t.tenant_id = ? and t.session_id = ? and t.turn_index <= ?::int) t,
      (
        select ${digestOf(OUTCOME, ofCalls)} as "outcomesDigest", ${digestOf(EXECUTION_ROW, ofCalls)} as "executions",
               coalesce(json_agg(e.execution_id order by ${ofCalls}), '[]')::text as "executionIds"
          from turnlock.agent_tool_executions e join turnlock.agent_turns t on t.turn_id = e.turn_id
         where e.tenant_id = ? and e.session_id = ? and t.turn_index <= ?::int) e`,
    [salt, salt, tenantId, sessionId, cut, salt, salt, tenantId, sessionId, cut],
  )) as [{ [name in 'turnsDigest' | 'turns' | 'outcomesDigest' | 'executions' | 'executionIds']: string }];
  const { turnsDigest, turns, outcomesDigest, executions, executionIds } = row;
  return {
    turnsDigest,
    outcomesDigest,
    rows: { turns, executions },
    executionIds: JSON.parse(executionIds) as string[],
  };
}
