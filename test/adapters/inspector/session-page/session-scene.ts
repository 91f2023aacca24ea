import { inspector } from '../../../../adapters/inspector/inspector.ts';
import type { InspectorOptions } from '../../../../adapters/inspector/inspector-options.ts';
import { type Runtime, requireApproval, ToolError } from '../../../../index.ts';
import { scriptedAgent } from '../../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../../support/runtime-script.ts';

/** Asks for a page of the inspector of `runtime`, as somebody of a tenant. */
export function pagesOf(runtime: Runtime, tenantId = 'tenant', more: InspectorOptions = {}) {
  const handler = inspector(runtime, { viewer: { tenantId, by: 'grace' }, ...more });
  return async (path: string, headers: Record<string, string> = {}): Promise<{ status: number; page: string }> => {
    const response = await handler(new Request(`http://127.0.0.1${path}`, { headers }));
    return { status: response.status, page: await response.text() };
  };
}

/** The sequences that a page lists, in its order. */
export function listedOn(page: string): number[] {
  return [...page.matchAll(/data-sequence="(\d+)"/g)].map(([, sequence]) => Number(sequence));
}

/** An agent whose run looks something up twice, as its first attempt fails, and then asks for approval of a refund. */
export function supportAgent(name?: string) {
  let attempts = 0;
  const lookup = looseTool(
    'lookup',
    () => {
      attempts += 1;
      if (attempts % 2 === 1) throw new ToolError('stock answered 503', { retryable: true });
      return { order: 42, status: 'shipped' };
    },
    { effect: 'readOnly', retry: { attempts: 2, backoff: { initialMs: 1 } } },
  );
  const refund = looseTool('refund', () => ({ reference: 're_1' }), {
    effect: 'nonRepeatable',
    policy: () => requireApproval({ question: 'Is it broken?', expiresInMs: 3_600_000 }),
  });
  const usage = { inputTokens: 812, outputTokens: 64 };
  const script = eachRun(
    { text: 'Let me look.', toolCalls: [call('lookup', { order: 42 })], usage },
    { toolCalls: [call('refund', { order: 42 })], usage },
    { text: 'It is on its way.', usage },
  );
  return scriptedAgent(script, [lookup, refund], name);
}
