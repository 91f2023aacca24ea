import type { EntityManager } from '@mikro-orm/postgresql';
import type { Claiming } from './claims.ts';

/** What a budget counts. */
export type BudgetUnit = 'tokens' | 'microMoney' | 'calls';

/** A freeze, or a budget with what is used of it today. */
export interface Control {
  controlId: string;
  kind: 'freeze' | 'budget';
  /** `null`: for every tool. */
  toolName: string | null;
  unit: BudgetUnit | null;
  dailyLimit: number;
  used: number;
  reason: string | null;
}

/** What a provider may say is anything: only numbers count. */
const number = (name: string) =>
  `case jsonb_typeof(m.token_usage_json -> '${name}') when 'number' then (m.token_usage_json ->> '${name}')::numeric else 0 end`;

const TOKENS = `case when m.token_usage_json -> 'totalTokens' is not null then ${number('totalTokens')}
  else ${number('inputTokens')} + ${number('outputTokens')} end`;

const BEGUN = `turnlock.agent_tool_executions e
  where e.tenant_id = ? and e.attempt > 0 and e.started_at >= ?::timestamptz and (c.tool_name is null or e.tool_name = c.tool_name)`;

/**
 * The controls that concern calls of these tools, with what the tenant has used of each budget since midnight UTC, by the database's clock.
 * One statement. Calls and money count what has begun, in every session of the tenant; tokens count its model calls.
 */
export async function readControls(
  em: EntityManager,
  { tenantId, now }: Pick<Claiming, 'tenantId' | 'now'>,
  toolNames: readonly string[],
): Promise<Control[]> {
  const day = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())).toISOString();
  const rows = (await em.execute(
    `select c.control_id, c.kind, c.tool_name, c.unit, c.daily_limit::float8 as daily_limit, c.reason,
            (case c.unit
               when 'calls' then (select count(*) from ${BEGUN})
               when 'microMoney' then (select coalesce(sum(e.cost_micro_money), 0) from ${BEGUN})
               when 'tokens' then (select coalesce(sum(${TOKENS}), 0) from turnlock.agent_model_calls m
                 where m.tenant_id = ? and m.started_at >= ?::timestamptz)
             end)::float8 as used
       from turnlock.agent_controls c
      where (c.tenant_id is null or c.tenant_id = ?)
        and (c.tool_name is null or c.tool_name in (${toolNames.map(() => '?').join(', ')}))
      order by c.created_at, c.control_id`,
    [tenantId, day, tenantId, day, tenantId, day, tenantId, ...toolNames],
  )) as {
    control_id: string;
    kind: Control['kind'];
    tool_name: string | null;
    unit: BudgetUnit | null;
    daily_limit: number | null;
    reason: string | null;
    used: number | null;
  }[];
  return rows.map(({ control_id, kind, tool_name, unit, daily_limit, reason, used }) => {
    const amounts = { dailyLimit: daily_limit ?? 0, used: used ?? 0 };
    return { controlId: control_id, kind, toolName: tool_name, unit, ...amounts, reason };
  });
}
