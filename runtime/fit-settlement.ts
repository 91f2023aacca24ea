import type { Tool } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { readExecution } from '../persistence/read-execution.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import type { CheckedSettlement } from './check-settlement.ts';
import type { Services } from './services.ts';
import { readOutput } from './tool-output.ts';

/**
 * A settlement whose output is what the tool's `outputSchema` makes of it. Nothing is asked of a tool that this build does not have.
 *
 * @throws OUTCOME_INVALID for an output that does not fit, VALUE_TOO_LARGE for what the schema makes of it.
 */
export async function fitSettlement(
  { store, closing, agents }: Services,
  session: CommittedSession,
  executionId: string,
  settlement: CheckedSettlement,
): Promise<CheckedSettlement> {
  const tools = agents.get(session.agentName)?.tools ?? new Map<string, Tool>();
  const promises = [...tools.values()].some(({ outputSchema }) => outputSchema !== null);
  if (settlement.outcome !== 'succeeded' || !promises) return settlement;
  const execution = await readExecution(store, session, executionId);
  const tool = execution === null ? undefined : tools.get(execution.toolName);
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
