import { TurnlockError } from '../errors.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import type { DriveContext } from './drive-context.ts';

/**
 * The agent's instructions for one attempt of a model call, as text that every provider takes: U+0000 and lone surrogates are replaced.
 *
 * @throws INSTRUCTIONS_FAILED when the function that makes them throws, or makes no text.
 */
export async function makeInstructions(drive: DriveContext, runId: string, signal: AbortSignal): Promise<string> {
  const { agent, session } = drive;
  const { instructions } = agent;
  if (typeof instructions === 'string') return wellFormed(instructions);
  const { tenantId, userId, sessionId, externalId } = session;
  const metadata = structuredClone(session.metadata);
  let made: unknown;
  try {
    made = await instructions({ tenantId, userId, sessionId, runId, externalId, metadata, signal });
  } catch (cause) {
    const { message } = normaliseError(cause, drive.limits);
    throw failed(agent.name, `it threw: ${message}`, { cause });
  }
  if (typeof made !== 'string') throw failed(agent.name, kindOf(made), { retryable: false });
  return wellFormed(made);
}

function wellFormed(instructions: string): string {
  return normaliseText(instructions, { maxBytes: Number.POSITIVE_INFINITY, name: 'instructions' }).value;
}

function failed(agent: string, found: string, more: { cause?: unknown; retryable?: boolean }): TurnlockError {
  return new TurnlockError('INSTRUCTIONS_FAILED', {
    message: `instructions could not be made: agent ${JSON.stringify(agent)} (found ${found}, wanted text)`,
    ...more,
  });
}
