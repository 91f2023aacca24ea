import { isTurnlockError } from '../../errors.ts';
import { isKnownTenant, isKnownTool } from '../../persistence/known-names.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import type { Agent } from '../../runtime/define-agent.ts';

/** What a freeze or a budget is about; `null`: every tool, each tenant. */
export interface ControlNames {
  toolName: string | null;
  tenantId: string | null;
}

/**
 * A sentence for each name that nothing knows: neither the agents of the configuration nor the database. It may be misspelt, and a freeze of it
 * holds nothing. Nothing is said where the role may not look.
 */
export async function unknownNames(
  store: Store,
  { toolName, tenantId }: ControlNames,
  agents: readonly Agent[],
): Promise<string[]> {
  const warnings: string[] = [];
  const isOurs = toolName !== null && agents.some(({ tools }) => tools.has(toolName));
  if (toolName !== null && !isOurs && !(await looked(isKnownTool(store, toolName, tenantId)))) {
    const note =
      'no agent of the configuration has it, and no runtime has recorded it (tools of MCP servers never are)';
    warnings.push(
      `Warning: no tool is known by the name ${JSON.stringify(toolName)}: ${note}. It is in force all the same.`,
    );
  }
  if (tenantId !== null && !(await looked(isKnownTenant(store, tenantId)))) {
    warnings.push(`Warning: the tenant ${JSON.stringify(tenantId)} has no session. It is in force all the same.`);
  }
  return warnings;
}

/** What is known; `true` where this role cannot tell. */
async function looked(known: Promise<boolean>): Promise<boolean> {
  return known.catch((error: unknown) => {
    if (isTurnlockError(error, 'PRIVILEGE_MISSING')) return true;
    throw error;
  });
}
