import fc from 'fast-check';
import type { PolicyContext } from '../../adapters/tools/policy.ts';
import { isReconciliation, type Reconciliation } from '../../adapters/tools/reconciliation.ts';
import type { Tool, ToolContext } from '../../adapters/tools/tool.contract.ts';
import { LIMITS } from '../../limits.ts';
import type { Json } from '../../machines/event-content.ts';
import { normaliseJson } from '../../persistence/values/normalise-json.ts';
import { validate } from '../../runtime/validate.ts';
import { RunScratchpad } from '../../runtime/working-state/run-scratchpad.ts';
import { Finding, must, shown } from './contract-broken.ts';

const WHOSE = {
  tenantId: 'tenant',
  userId: 'user',
  sessionId: '00000000-0000-4000-8000-000000000001',
  runId: '00000000-0000-4000-8000-000000000002',
  executionId: '00000000-0000-4000-8000-000000000003',
};

/** What a tool is handed beside its params: of one call, in its `attempt`. */
export function contextOf(attempt = 1, signal: AbortSignal = new AbortController().signal): ToolContext {
  return {
    ...WHOSE,
    idempotencyKey: `tl1_${'0'.repeat(64)}`,
    fencingToken: attempt,
    signal,
    attempt,
    claim: null,
    scratchpad: new RunScratchpad(LIMITS),
    memory: { recall: async () => [] },
  };
}

/** What a policy is handed beside the params. */
export function policyContextOf(tool: Tool, isStart: boolean): PolicyContext {
  const { signal } = new AbortController();
  return { ...WHOSE, agent: 'contract', toolName: tool.name, externalId: null, metadata: {}, isStart, signal };
}

/** Params as a model gives them, once the schema took them. @throws Finding where it did not, or they cannot be stored. */
export async function planned(tool: Tool, given: unknown): Promise<Json> {
  const result = await validate(tool.inputSchema, storable(given, 'input', LIMITS.maxParamsBytes));
  must(result.issues === undefined, `objections: ${result.issues}`);
  return storable(result.value, 'params', LIMITS.maxParamsBytes);
}

/** What the validator objects to; `undefined`: it takes them. */
export async function objections(tool: Tool, given: unknown): Promise<string | undefined> {
  return (await validate(tool.inputSchema, storable(given, 'input', LIMITS.maxParamsBytes))).issues;
}

/** How an attempt ended: `null` where it threw, which a tool may do. */
export async function attempt(
  tool: Tool,
  params: Json,
  context: ToolContext = contextOf(),
): Promise<{ returned: unknown } | null> {
  try {
    return { returned: await tool.execute(structuredClone(params), context) };
  } catch {
    return null;
  }
}

/** What the receiver says of a call. @throws Finding for no answer, and for one that is none of the three. */
export async function reconciled(tool: Tool, params: Json): Promise<Reconciliation> {
  const answer = await tool.reconcile?.(structuredClone(params), contextOf());
  must(isReconciliation(answer), `the answer ${shown(answer)}`);
  if (answer.type === 'done') await mustFit(tool, answer.output);
  return answer;
}

/** @throws Finding for an output that cannot be stored, or that the tool's `outputSchema` does not take. */
export async function mustFit(tool: Tool, returned: unknown): Promise<void> {
  const read = tool.outputSchema === null ? { value: returned } : await validate(tool.outputSchema, returned);
  if ('issues' in read && read.issues !== undefined) throw new Finding(`an output that does not fit: ${read.issues}`);
  storable(read.value ?? null, 'output', LIMITS.maxOutputBytes);
}

/** A copy as it is stored. @throws VALUE_INVALID, VALUE_TOO_LARGE. */
function storable(value: unknown, name: string, maxBytes: number): Json {
  return normaliseJson(value, { maxBytes, maxDepth: LIMITS.maxDepth, name }).value;
}

/** How many values are tried. */
export interface Trials {
  numRuns: number;
  seed: number;
}

/** Checks many values. @throws Finding with the simplest one for which `check` throws, and what it threw. */
export async function forEach<Value>(
  arbitrary: fc.Arbitrary<Value>,
  trials: Trials,
  check: (value: Value) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(arbitrary, check);
  const { failed, counterexample, errorInstance, seed } = await fc.check(property, { ...trials });
  if (!failed) return;
  const what = errorInstance instanceof Finding ? errorInstance.message : shown(errorInstance);
  throw new Finding(`${what}, for ${shown(counterexample?.[0])} by seed ${seed}`);
}
