import type { Tool as SdkTool } from 'ai';
import { checkContext } from './from-ai-sdk-execute.ts';
import { allow, type Policy, type PolicyContext, requireApproval, strictest } from './policy.ts';

/** The SDK types it for each tool's own input: here it is any. */
type NeedsApproval = (input: unknown, options: object) => unknown;

/**
 * What `needsApproval` of a tool of the AI SDK says, as a policy, together with the one of the settings: the strictest verdict holds.
 * `undefined` where neither says anything.
 */
export function toPolicy(
  name: string,
  tool: SdkTool,
  { policy, approvalContext }: { policy?: Policy; approvalContext?: (context: PolicyContext) => unknown },
): Policy | undefined {
  const needsApproval = tool.needsApproval as NeedsApproval | boolean | undefined;
  if (!needsApproval) return policy;
  const own: Policy = async (params, context) => {
    if (typeof needsApproval !== 'function') return requireApproval();
    const given = approvalContext === undefined ? context : await approvalContext(context);
    const checked = await checkContext(name, tool.contextSchema, given);
    const options = {
      toolCallId: context.executionId,
      messages: [],
      context: checked,
      // As tools that were written for the SDK's version 6 know it.
      experimental_context: checked,
    };
    // As the SDK does it: whatever is truthy.
    return (await needsApproval(params, options)) ? requireApproval() : allow();
  };
  // Among equals the first verdict holds: that of the settings may say who decides, and until when.
  return policy === undefined ? own : strictest(policy, own);
}
