import type { Limits } from '../limits.ts';
import type { Json } from '../machines/event-content.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import type { AgentOutput } from './define-agent.ts';
import { validate } from './validate.ts';

/** What a reply is, measured by the agent's output schema. */
export type ReadOutput =
  /** The reply is final, and this is what it says. */
  | { output: Json; notes: string[] }
  /** The reply is an ordinary one, for this reason. */
  | { refused: string };

/** Bytes of a reason, beyond which it is cut: it stands with the turn. */
const MAX_REASON_BYTES = 4096;

/** Whether `reply` is the agent's output. Never throws for what a model or a validator does. */
export async function readOutput(declared: AgentOutput, reply: string, limits: Limits): Promise<ReadOutput> {
  let given: unknown;
  try {
    given = JSON.parse(reply);
  } catch {
    return refuse('The reply is not JSON.');
  }
  let result: Awaited<ReturnType<typeof validate>>;
  try {
    result = await validate(declared.schema, given);
  } catch (thrown) {
    return refuse(`The validation threw: ${normaliseError(thrown, limits).message}`);
  }
  try {
    if (result.issues !== undefined) return refuse(`The reply does not fit the schema: ${result.issues}`);
    const bounds = { maxBytes: limits.maxReplyBytes, maxDepth: limits.maxDepth, name: 'output' };
    const { value, notes } = normaliseJson(result.value, bounds);
    return { output: value, notes };
  } catch (thrown) {
    return refuse(`The output cannot be stored: ${normaliseError(thrown, limits).message}`);
  }
}

function refuse(reason: string): ReadOutput {
  return { refused: normaliseText(reason, { maxBytes: MAX_REASON_BYTES, name: 'reason' }, 'truncate').value };
}
