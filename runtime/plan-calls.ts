import type { ModelToolCall } from '../adapters/models/model.contract.ts';
import type { Tool } from '../adapters/tools/tool.contract.ts';
import { isTurnlockError } from '../errors.ts';
import type { CallContent, Json, Normalised, TurnPart } from '../machines/event-content.ts';
import type { PlannedCall } from '../machines/session-event.ts';
import { paramsDigest } from '../persistence/keys/params-digest.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import type { DriveContext } from './drive-context.ts';

/** The calls of one answer, ready to be committed, and the parts that say what was asked. */
export interface CallPlan {
  calls: PlannedCall[];
  parts: TurnPart[];
}

/**
 * Validates what a model asked for, before anything is written: user code runs here, outside any transaction.
 *
 * A call of a tool that does not exist, with arguments that are not JSON or that fail the schema becomes a settled, failed execution
 * whose tool turn says so. Identical calls are one execution unless the tool is `repeatable`. The first calls start at once, as many
 * as may run side by side; the others wait for a slot.
 */
export async function planCalls(drive: DriveContext, asked: readonly ModelToolCall[]): Promise<CallPlan> {
  const contents = await Promise.all(asked.map((call, ordinal) => describeCall(drive, call, ordinal)));
  const calls: PlannedCall[] = [];
  const byIdentity = new Map<string, PlannedCall>();
  const parts: TurnPart[] = [];
  for (const [ordinal, content] of contents.entries()) {
    const identity = JSON.stringify([content.toolName, content.paramsDigest, content.repeatable ? ordinal : null]);
    let call = byIdentity.get(identity);
    if (call === undefined) {
      call = beginCall(drive, ordinal, content, calls);
      byIdentity.set(identity, call);
      calls.push(call);
    } else {
      call.ordinals.push(ordinal);
    }
    parts.push(toPart(drive, ordinal, call, asked[ordinal] as ModelToolCall));
  }
  return { calls, parts };
}

function beginCall(drive: DriveContext, ordinal: number, content: CallContent, before: PlannedCall[]): PlannedCall {
  const running = before.filter((call) => call.verdict === 'start').length;
  const call = { executionId: drive.environment.uuid(), ordinals: [ordinal], content };
  if (content.settled !== undefined) return { ...call, verdict: 'settled', outcome: 'failed' };
  return { ...call, verdict: running < drive.limits.maxParallelTools ? 'start' : 'queue' };
}

function toPart(drive: DriveContext, ordinal: number, call: PlannedCall, asked: ModelToolCall): TurnPart {
  const { toolName, params, rawInput } = call.content;
  const metadata = asked.providerMetadata === undefined ? null : storableInput(drive, asked.providerMetadata);
  return {
    type: 'toolCall',
    ordinal,
    toolName,
    input: params,
    ...(rawInput === null ? {} : { rawInput }),
    providerCallId: storable(asked.providerCallId),
    executionId: call.executionId,
    ...(metadata !== null && 'value' in metadata ? { providerMetadata: metadata.value } : {}),
  };
}

async function describeCall(drive: DriveContext, call: ModelToolCall, ordinal: number): Promise<CallContent> {
  const name = [...(storable(call.toolName) ?? '')].slice(0, 128).join('') || 'unnamed';
  const tool = drive.agent.tools.get(name);
  const base = {
    toolName: name,
    toolVersion: tool?.version ?? 0,
    effect: tool?.effect ?? 'nonRepeatable',
    repeatable: tool?.repeatable ?? false,
    providerCallId: storable(call.providerCallId),
    rawInput: null,
    timeoutMs: tool?.timeoutMs ?? drive.limits.toolTimeoutMs,
    normalised: null,
  } satisfies Partial<CallContent>;
  if (call.invalidInput !== undefined) {
    const raw = normaliseText(
      call.invalidInput,
      { maxBytes: drive.limits.maxParamsBytes, name: 'arguments' },
      'truncate',
    );
    return refused(base, { $invalid: raw.value }, 'PARAMS_INVALID', 'The arguments are not JSON.', raw);
  }
  const asked = storableInput(drive, call.input);
  if ('refusal' in asked) {
    // Nothing of it can be digested, so it is nobody's twin.
    return refused(base, { $invalid: asked.placeholder, ordinal }, 'PARAMS_INVALID', asked.refusal);
  }
  if (tool === undefined) return refused(base, asked.value, 'TOOL_UNKNOWN', `There is no tool named ${name}.`);
  return validated(drive, tool, base, asked);
}

type Base = Omit<CallContent, 'params' | 'paramsDigest' | 'settled'>;

function refused(
  base: Base,
  params: Json,
  code: string,
  message: string,
  raw?: { value: string; notes: string[] },
): CallContent {
  const content = { ...base, params: raw === undefined ? params : {}, paramsDigest: paramsDigest(params) };
  const settled = { error: { code, message } };
  if (raw === undefined) return { ...content, settled };
  return { ...content, rawInput: raw.value, normalised: raw.notes.length > 0 ? raw.notes : null, settled };
}

type Storable = { value: Json; notes: string[] } | { refusal: string; placeholder: string };

function storableInput({ limits }: DriveContext, input: unknown): Storable {
  try {
    return normaliseJson(input, { maxBytes: limits.maxParamsBytes, maxDepth: limits.maxDepth, name: 'params' });
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { refusal: error.message, placeholder: error.code };
  }
}

async function validated(
  drive: DriveContext,
  tool: Tool,
  base: Base,
  asked: { value: Json; notes: string[] },
): Promise<CallContent> {
  try {
    const result = await tool.inputSchema['~standard'].validate(asked.value);
    if (result.issues !== undefined) {
      const issues = result.issues.map((issue) => `${pathOf(issue.path)}: ${issue.message}`).join('; ');
      return refused(base, asked.value, 'PARAMS_INVALID', `The arguments do not fit the schema: ${storable(issues)}`);
    }
    const params = storableInput(drive, result.value);
    if ('refusal' in params) return refused(base, asked.value, 'PARAMS_INVALID', params.refusal);
    const notes: Normalised = [...asked.notes, ...params.notes];
    return {
      ...base,
      params: params.value,
      paramsDigest: paramsDigest(params.value),
      normalised: notes.length > 0 ? notes : null,
    };
  } catch (thrown) {
    const { message } = normaliseError(thrown, drive.limits);
    return refused(base, asked.value, 'PARAMS_INVALID', `The validation threw: ${message}`);
  }
}

function pathOf(path: readonly unknown[] | undefined): string {
  const keys = (path ?? []).map((part) =>
    typeof part === 'object' && part !== null && 'key' in part ? part.key : part,
  );
  return `/${keys.map(String).join('/')}`;
}

function storable(text: unknown): string | null {
  return typeof text === 'string' ? normaliseText(text, { maxBytes: 4096, name: 'text' }, 'truncate').value : null;
}
