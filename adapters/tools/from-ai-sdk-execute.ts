import { asSchema, type FlexibleSchema, type Tool as SdkTool } from 'ai';
import { TurnlockError } from '../../errors.ts';
import type { ToolContext } from './tool.contract.ts';

/** The `execute` of a tool of the AI SDK as that of ours. */
export function toExecute(
  name: string,
  tool: SdkTool & { execute: NonNullable<SdkTool['execute']> },
  contextFor: ((context: ToolContext) => unknown) | undefined,
): (params: unknown, context: ToolContext) => Promise<unknown> {
  return async (params, turnlock) => {
    const given = contextFor === undefined ? turnlock : await contextFor(turnlock);
    const context = await checkContext(name, tool.contextSchema, given);
    const options = {
      toolCallId: turnlock.executionId,
      messages: [],
      abortSignal: turnlock.signal,
      context,
      // As tools that were written for the SDK's versions 5 and 6 know it.
      experimental_context: context,
    };
    return asJson(await lastOf(tool.execute(params, options)));
  };
}

/** As the SDK does it: a context that does not fit ends the call before the act. */
export async function checkContext(
  name: string,
  schema: FlexibleSchema | undefined,
  context: unknown,
): Promise<unknown> {
  if (schema === undefined) return context;
  const result = (await asSchema(schema).validate?.(context)) ?? { success: true, value: context };
  if (result.success) return result.value;
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `tool context not accepted: context of ${name} (wanted what contextSchema of the tool describes)`,
  });
}

/** The result: of a tool that yields interim results, the last one. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return await result;
  let last: unknown;
  for await (const interim of result as AsyncIterable<unknown>) last = interim;
  return last;
}

/**
 * The result as the SDK would have written it for the model: dates as text, `toJSON` honoured. What has no JSON form passes unchanged:
 * the tool has run, and the runtime stores a placeholder that says so.
 */
function asJson(result: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(result) ?? 'null');
  } catch {
    return result;
  }
}
