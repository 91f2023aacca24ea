import type { EntityManager } from '@mikro-orm/postgresql';
import { asOperator } from './operator-transaction.ts';
import type { BudgetUnit } from './read-controls.ts';
import type { Store } from './session-transaction.ts';

/** What a freeze or a budget is about. Two of one scope are one: the later one takes its place. */
export interface ControlScope {
  kind: 'freeze' | 'budget';
  /** `null`: each tenant, for itself. */
  tenantId: string | null;
  /** `null`: every tool. */
  toolName: string | null;
  /** Of a budget. */
  unit: BudgetUnit | null;
}

/** A freeze or a budget, as operators see it. */
export interface StoredControl extends ControlScope {
  controlId: string;
  /** Of a budget: what may be used of it from midnight to midnight UTC. */
  dailyLimit: number | null;
  reason: string | null;
  /** The database role that made it. */
  createdBy: string;
  createdAt: Date;
}

/** Every freeze and budget, of all tenants, oldest first. The look is recorded. @throws PRIVILEGE_MISSING. */
export async function listControls(store: Store): Promise<StoredControl[]> {
  return asOperator(store, readAll);
}

/** Makes a freeze or a budget, in place of those of the same scope. In force for every start that commits from now on. @throws PRIVILEGE_MISSING. */
export async function putControl(
  store: Store,
  control: ControlScope & Pick<StoredControl, 'dailyLimit' | 'reason'>,
): Promise<StoredControl> {
  const { kind, tenantId, toolName, unit, dailyLimit, reason } = control;
  return asOperator(store, async (em) => {
    await dropAll(em, control);
    const [row] = (await em.execute('select turnlock.put_control(?, ?, ?, ?, ?::bigint, ?) as id', [
      ...[kind, tenantId, toolName, unit, dailyLimit, reason],
    ])) as [{ id: string }];
    return (await readAll(em)).find(({ controlId }) => controlId === row.id) as StoredControl;
  });
}

/** Ends the freezes or budgets of one scope; answers with them. Calls that wait because of them go on waiting. @throws PRIVILEGE_MISSING. */
export async function dropControls(store: Store, scope: ControlScope): Promise<StoredControl[]> {
  return asOperator(store, (em) => dropAll(em, scope));
}

async function dropAll(em: EntityManager, scope: ControlScope): Promise<StoredControl[]> {
  const names = ['kind', 'tenantId', 'toolName', 'unit'] as const;
  const dropped = (await readAll(em)).filter((control) => names.every((name) => control[name] === scope[name]));
  for (const { controlId } of dropped) await em.execute('select turnlock.drop_control(?::uuid)', [controlId]);
  return dropped;
}

async function readAll(em: EntityManager): Promise<StoredControl[]> {
  const rows = (await em.execute(
    `select control_id, tenant_id, kind, tool_name, unit, daily_limit::float8 as daily_limit, reason, created_by,
            (extract(epoch from created_at) * 1000)::float8 as created_ms
       from turnlock.list_controls()`,
  )) as Record<string, unknown>[];
  return rows.map((row) => ({
    controlId: row.control_id as string,
    tenantId: row.tenant_id as string | null,
    kind: row.kind as StoredControl['kind'],
    toolName: row.tool_name as string | null,
    unit: row.unit as BudgetUnit | null,
    dailyLimit: row.daily_limit as number | null,
    reason: row.reason as string | null,
    createdBy: row.created_by as string,
    createdAt: new Date(row.created_ms as number),
  }));
}
