import { jsonSchema, type Tool as SdkTool, type ToolSet, tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type FromAiSdkSettings, fromAiSdk } from '../../../adapters/tools/from-ai-sdk.ts';
import {
  allow,
  deny,
  type PolicyContext,
  type PolicyVerdict,
  requireApproval,
} from '../../../adapters/tools/policy.ts';

const context: PolicyContext = {
  tenantId: 'tenant',
  userId: 'user',
  sessionId: 'session',
  runId: 'run',
  agent: 'agent',
  toolName: 'refund',
  executionId: 'execution',
  externalId: null,
  metadata: {},
  isStart: false,
  signal: new AbortController().signal,
};

const inputSchema = z.object({ cents: z.number() });
const execute = async () => 'refunded';

/** What the policy of the tool says; `null` where it has none. */
async function verdictOf(
  given: SdkTool,
  params: unknown,
  settings: FromAiSdkSettings = {},
): Promise<PolicyVerdict | null> {
  const [refund] = fromAiSdk({ refund: given } as ToolSet, { refund: settings });
  return refund!.policy === null ? null : await refund!.policy(params, context);
}

describe('needsApproval', () => {
  test.each([false, undefined])('%s: the tool has no policy', async (needsApproval) => {
    const given = tool({ inputSchema, execute, ...(needsApproval === undefined ? {} : { needsApproval }) });
    expect(await verdictOf(given, { cents: 1 })).toBeNull();
  });

  test('true: each call waits for a person', async () => {
    expect(await verdictOf(tool({ inputSchema, execute, needsApproval: true }), { cents: 1 })).toEqual(
      requireApproval(),
    );
  });

  test.each<[number, PolicyVerdict]>([
    [1, allow()],
    [100, requireApproval()],
  ])('a function says it of the input, also later: %j', async (cents, verdict) => {
    const given = tool({ inputSchema, execute, needsApproval: async (input) => input.cents >= 100 });
    expect(await verdictOf(given, { cents })).toEqual(verdict);
  });

  test('whatever is truthy wants approval, as in the SDK', async () => {
    const says = (answer: unknown) => tool({ inputSchema, execute, needsApproval: (() => answer) as () => boolean });
    expect(await verdictOf(says('yes'), { cents: 1 })).toEqual(requireApproval());
    expect(await verdictOf(says(0), { cents: 1 })).toEqual(allow());
  });

  test('a function gets our execution id, no messages, and as context what a policy is given', async () => {
    const seen: unknown[] = [];
    const needsApproval = (...given: unknown[]) => {
      seen.push(...given);
      return false;
    };
    const given = tool({ inputSchema: jsonSchema({ type: 'object' }), execute, needsApproval });
    await verdictOf(given, { cents: 1 });
    const options = { toolCallId: 'execution', messages: [], context, experimental_context: context };
    expect(seen).toEqual([{ cents: 1 }, options]);
  });

  test('where the tool has a contextSchema, approvalContext makes what it describes', async () => {
    const given = tool({
      inputSchema,
      execute,
      contextSchema: z.object({ isTrusted: z.boolean() }),
      needsApproval: (_, { context: { isTrusted } }) => !isTrusted,
    });
    const trusting = (isTrusted: unknown): FromAiSdkSettings => ({
      context: () => ({ isTrusted: true }),
      approvalContext: async ({ userId }) => ({ isTrusted: userId === 'user' && isTrusted }),
    });
    expect(await verdictOf(given, { cents: 1 }, trusting(true))).toEqual(allow());
    expect(await verdictOf(given, { cents: 1 }, trusting(false))).toEqual(requireApproval());
    await expect(verdictOf(given, { cents: 1 }, trusting('very'))).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  test('what it throws, the policy throws: the runtime refuses the call', async () => {
    const needsApproval = async () => Promise.reject(new Error('no rules'));
    await expect(verdictOf(tool({ inputSchema, execute, needsApproval }), { cents: 1 })).rejects.toThrow('no rules');
  });

  test('together with a policy of the settings the strictest verdict holds, with the rule of the settings', async () => {
    const given = tool({ inputSchema, execute, needsApproval: true });
    const ruled = requireApproval({ approvers: { roles: ['manager'] } });
    expect(await verdictOf(given, { cents: 1 }, { policy: () => allow() })).toEqual(requireApproval());
    expect(await verdictOf(given, { cents: 1 }, { policy: () => ruled })).toEqual(ruled);
    expect(await verdictOf(given, { cents: 1 }, { policy: () => deny('no') })).toEqual(deny('no'));
  });
});
