import type { Tool } from '../adapters/tools/tool.contract.ts';
import { isTurnlockError } from '../errors.ts';
import type { OutcomeContent } from '../machines/event-content.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import { placeholderFor } from '../persistence/values/placeholder.ts';
import type { DriveContext } from './drive-context.ts';
import { validate } from './validate.ts';

/** Bytes of what a validator objects to, beyond which it is cut: it is shown to the model. */
const MAX_ISSUES_BYTES = 4096;

/**
 * What is stored of an output. The act has happened, so this never fails: what the tool's `outputSchema` does not take is stored as it was
 * returned, with the reason; what cannot be stored at all, as a truthful placeholder.
 */
export async function outputContent(
  drive: Pick<DriveContext, 'limits' | 'environment' | 'signal'>,
  tool: Tool,
  returned: unknown,
): Promise<OutcomeContent> {
  if (tool.outputSchema === null) return storable(drive, returned);
  const read = await readOutput(drive, tool, returned);
  if (read.issues === undefined) return storable(drive, read.value);
  const issues = normaliseText(read.issues, { maxBytes: MAX_ISSUES_BYTES, name: 'issues' }, 'truncate').value;
  const says = `The call succeeded, but its output is not what the tool promises: ${issues}`;
  return storable(drive, { unfit: true, says, output: returned ?? null }, returned);
}

/** The output as the schema has it, or what is wrong with it. A validator that does not end is not waited for for ever. */
export async function readOutput(
  { limits, environment, signal }: Pick<DriveContext, 'limits' | 'environment' | 'signal'>,
  { outputSchema }: Tool,
  returned: unknown,
): Promise<{ value: unknown; issues?: never } | { issues: string }> {
  if (outputSchema === null) return { value: returned };
  const over = new AbortController();
  const bound = environment.sleep(limits.toolTimeoutMs, AbortSignal.any([over.signal, signal])).then(
    () => ({ issues: `it was not validated within ${limits.toolTimeoutMs} ms` }),
    () => ({ issues: 'it was not validated before the session was left' }),
  );
  try {
    return await Promise.race([validate(outputSchema, returned), bound]);
  } catch (thrown) {
    return { issues: `the validation threw: ${normaliseError(thrown, limits).message}` };
  } finally {
    over.abort();
  }
}

/** `of` is what the tool returned, where `value` tells of it. */
export function storable(
  { limits }: Pick<DriveContext, 'limits'>,
  value: unknown,
  of: unknown = value,
): OutcomeContent {
  try {
    const bounds = { maxBytes: limits.maxOutputBytes, maxDepth: limits.maxDepth, name: 'output' };
    const normalised = normaliseJson(value ?? null, bounds);
    return { output: normalised.value, normalised: normalised.notes };
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { output: placeholderFor(of, error) };
  }
}
