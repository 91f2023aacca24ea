import { inPatientTransaction } from './patient-transaction.ts';
import type { Store } from './session-transaction.ts';

/** A freeze or a budget that is still in force. */
export interface ControlSummary {
  controlId: string;
  kind: 'freeze' | 'budget';
  /** `null`: every tool. */
  toolName: string | null;
  reason: string | null;
}

/** Those of the controls which are still in force for the tenant. */
export async function readControlsById(
  store: Store,
  tenantId: string,
  controlIds: readonly string[],
): Promise<ControlSummary[]> {
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const rows = (await em.execute(
      `select control_id, kind, tool_name, reason from turnlock.agent_controls
        where control_id = any (?::uuid[]) and (tenant_id is null or tenant_id = ?) order by created_at, control_id`,
      [`{${controlIds.join(',')}}`, tenantId],
    )) as { control_id: string; kind: ControlSummary['kind']; tool_name: string | null; reason: string | null }[];
    return rows.map(({ control_id: controlId, kind, tool_name: toolName, reason }) => {
      return { controlId, kind, toolName, reason };
    });
  });
}
