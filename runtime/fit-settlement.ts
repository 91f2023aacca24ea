import { TurnlockError } from '../errors.ts';
import { readExecution } from '../persistence/read-execution.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import type { CheckedSettlement } from './check-settlement.ts';
import type { Agent } from './define-agent.ts';
import type { Services } from './services.ts';
import { readOutput } from './tool-output.ts';

/**
 * A settlement whose output is what the tool's `outputSchema` makes of it. Nothing is asked of a tool that this build does not have.
 *
 * @throws OUTCOME_INVALID for an output that does not fit, VALUE_TOO_LARGE for what the schema makes of it.
 */
export async function fitSettlement(
  { store, closing }: Services,
  agent: Agent,
  key: SessionKey,
  executionId: string,
  settlement: CheckedSettlement,
): Promise<CheckedSettlement> {
  const promises = [...agent.tools.values()].some(({ outputSchema }) => outputSchema !== null);
  if (settlement.outcome !== 'succeeded' || !promises) return settlement;
  const execution = await readExecution(store, key, executionId);
  const tool = execution === null ? undefined : agent.tools.get(execution.toolName);
  if (tool === undefined || tool.outputSchema === null) return settlement;
  const { limits } = store;
  const read = await readOutput({ ...store, signal: closing }, tool, settlement.content.output);
  if (read.issues !== undefined) {
    throw new TurnlockError('OUTCOME_INVALID', {
      message: `output does not fit: ${executionId} (found ${read.issues}, wanted what ${tool.name} promises)`,
      details: { executionId, tool: tool.name },
    });
  }
  const bounds = { maxBytes: limits.maxOutputBytes, maxDepth: limits.maxDepth, name: 'output' };
  const { value, notes } = normaliseJson(read.value ?? null, bounds);
  const normalised = [...(settlement.content.normalised ?? []), ...notes];
  return { ...settlement, content: { output: value, normalised: normalised.length > 0 ? normalised : null } };
}
