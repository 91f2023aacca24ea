import type { ToolSet } from 'ai';
import { TurnlockError } from '../../errors.ts';
import { defineTool, type ToolDefinition } from './define-tool.ts';
import { toPolicy } from './from-ai-sdk-approval.ts';
import { toExecute } from './from-ai-sdk-execute.ts';
import { toInputSchema } from './from-ai-sdk-schema.ts';
import type { Policy, PolicyContext } from './policy.ts';
import type { OnRepeat, Tool, ToolContext, ToolEffect } from './tool.contract.ts';

/** What the AI SDK does not know of a tool. */
export interface FromAiSdkSettings {
  /** What a repeat of the act would do. Default `nonRepeatable`: started without a result, it waits for a person. */
  effect?: ToolEffect;
  /** Whether identical calls of one assistant turn all run. Default false. */
  repeatable?: boolean;
  /** What comes of a call that repeats one of the same run, as of `defineTool`. Default `ask`. */
  onRepeat?: OnRepeat;
  /** One act per business key, as of `defineTool`; `key` gets the params as the tool's schema makes them. Default none. */
  once?: ToolDefinition['once'];
  /** What a call costs, in millionths of money, as of `defineTool`. Default: nothing is said. */
  cost?: ToolDefinition['cost'];
  /** Milliseconds that one attempt may take. Default: the runtime's `toolTimeoutMs`. */
  timeoutMs?: number;
  /** Whether an approval stays good where an upgrade changed the params of a call that waits. Default false. */
  keepsApproval?: boolean;
  /** Judges each call before it runs, beside the tool's own `needsApproval`: the strictest verdict holds. Default: every call may run. */
  policy?: Policy;
  /** For the model. Required where the tool's own is a function; otherwise the default is the tool's own. */
  description?: string;
  /**
   * Makes what `execute` gets as `context` out of ours. Required where the tool has a `contextSchema`. Default: ours itself, with
   * `idempotencyKey`, `fencingToken`, tenant, user, session, run and attempt.
   */
  context?: (context: ToolContext) => unknown;
  /**
   * Makes what a `needsApproval` that is a function gets as `context`, out of what a policy knows of the call. Required where the tool has a
   * `contextSchema` too. Default: what a policy is given.
   */
  approvalContext?: (context: PolicyContext) => unknown;
}

/**
 * Tools of the AI SDK as tools of an agent, unchanged: `execute` gets the input, and as options `toolCallId` (our execution id: the same
 * over retries and recoveries), `abortSignal`, `context` and an empty `messages`. Of a tool that yields, the last value counts.
 *
 * `needsApproval` is a policy: where it is true, or says so of the input, the call waits for a person. It is asked when the model asks for the
 * call and again before the call starts, with `toolCallId`, `context` and an empty `messages`; where it throws, the call is refused.
 *
 * Nothing is known of what a repeat of such a tool would do: say it in `settings`, by the tool's name.
 *
 * @throws DEFINITION_INVALID for a tool without `execute`, one that the provider runs, a `needsApproval` that is neither true or false nor a
 * function, a schema without JSON Schema, or settings of a tool that is not there.
 * @throws TOOL_NAME_INVALID when a name has other characters than `A-Za-z0-9_-`, or more than 64.
 *
 * @example
 * const tools = fromAiSdk({ lookup, refund }, { lookup: { effect: 'readOnly' }, refund: { timeoutMs: 60_000 } });
 */
export function fromAiSdk<Tools extends ToolSet>(
  tools: Tools,
  settings: { readonly [Name in keyof Tools]?: FromAiSdkSettings } = {},
): Tool[] {
  if (!isObject(tools)) throw refused('all', kindOf(tools), 'an object of tools');
  if (!isObject(settings)) throw refused('all', `settings that are ${kindOf(settings)}`, 'an object of settings');
  const stray = Object.keys(settings).find((name) => !Object.hasOwn(tools, name));
  if (stray !== undefined) throw refused(stray, 'settings without a tool', `one of ${Object.keys(tools).join(', ')}`);
  return Object.entries(tools).map(([name, tool]) => fromTool(name, tool, settings[name]));
}

function fromTool(name: string, tool: ToolSet[string], settings: FromAiSdkSettings = {}): Tool {
  if (!isObject(tool)) throw refused(name, kindOf(tool), 'a tool');
  if (!isObject(settings)) throw refused(name, `settings that are ${kindOf(settings)}`, 'an object of settings');
  const { description = tool.description ?? '', context, approvalContext, policy, ...rest } = settings;
  if (tool.type === 'provider' && tool.isProviderExecuted !== false) {
    throw refused(
      name,
      'a tool that the provider runs',
      'one that runs here: what runs elsewhere cannot be accounted for',
    );
  }
  if (typeof tool.execute !== 'function') throw refused(name, 'no execute', 'a tool that runs here');
  const needs: unknown = tool.needsApproval ?? false;
  if (typeof needs !== 'boolean' && typeof needs !== 'function') {
    throw refused(name, `needsApproval that is ${kindOf(needs)}`, 'true, false or a function');
  }
  if (typeof description !== 'string') throw refused(name, 'a description that is a function', 'text in settings');
  if (tool.contextSchema !== undefined && context === undefined) {
    throw refused(name, 'a contextSchema', 'context in settings, which makes what it describes');
  }
  if (tool.contextSchema !== undefined && typeof needs === 'function' && approvalContext === undefined) {
    throw refused(
      name,
      'a contextSchema and needsApproval',
      'approvalContext in settings, which makes what it describes',
    );
  }
  const judges = toPolicy(name, tool as Parameters<typeof toPolicy>[1], {
    ...(policy && { policy }),
    ...(approvalContext && { approvalContext }),
  });
  return defineTool({
    name,
    description,
    inputSchema: toInputSchema(name, tool.inputSchema),
    ...rest,
    ...(judges && { policy: judges }),
    execute: toExecute(name, tool as Parameters<typeof toExecute>[1], context),
  });
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(tool: string, found: string, wanted: string): TurnlockError {
  return new TurnlockError('DEFINITION_INVALID', {
    message: `tool of the AI SDK not accepted: ${tool} (found ${found}, wanted ${wanted})`,
  });
}
