import type { ModelToolCall } from '../adapters/models/model.contract.ts';
import type { Tool } from '../adapters/tools/tool.contract.ts';
import { isTurnlockError } from '../errors.ts';
import type { CallContent, Json, Normalised } from '../machines/event-content.ts';
import { paramsDigest } from '../persistence/keys/params-digest.ts';
import { refusedDigest } from '../persistence/keys/refused-digest.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import { childOf } from './agent-tool.ts';
import { describeChild } from './describe-child.ts';
import type { DriveContext } from './drive-context.ts';
import { guardsOf } from './guards-of.ts';
import { validate } from './validate.ts';

/** What planning needs of a drive. */
export type Planning = Pick<DriveContext, 'agent' | 'limits' | 'environment' | 'session' | 'signal'> &
  Partial<Pick<DriveContext, 'watch'>>;

/** What a call is described with. */
export type Described = Pick<Planning, 'limits'> & { session: Pick<Planning['session'], 'sessionId'> };

/** Bytes of a name, an id or a validator's text, beyond which it is cut. */
const MAX_GIVEN_BYTES = 4096;

/** Characters that the column holds: more than a tool may have, since a model may ask for any name. */
const MAX_NAME_CHARACTERS = 128;

/**
 * What the row of one call will hold. A call that cannot run (no such tool, arguments that are not JSON, cannot be stored or fail the
 * schema) is settled as failed, with a text that tells the model why. Never throws for what a model or a validator does.
 */
export async function describeCall(planning: Planning, call: ModelToolCall, ordinal: number): Promise<CallContent> {
  const tool = planning.agent.tools.get(call.toolName);
  const base = baseOf(planning, call, tool);
  if (call.invalidInput !== undefined && call.invalidInput !== null) {
    const bounds = { maxBytes: planning.limits.maxParamsBytes, name: 'arguments' };
    const { value: rawInput, notes } = normaliseText(call.invalidInput, bounds, 'truncate');
    const asked: Asked = { value: {}, notes, twin: ['raw', rawInput] };
    return { ...refused(base, asked, 'The arguments are not JSON.'), rawInput };
  }
  const input = storableJson(planning, call.input);
  if ('refusal' in input) {
    // Nothing of it can be digested, so it is nobody's twin.
    return refused(base, { value: { $invalid: input.code }, notes: [], twin: ['place', ordinal] }, input.refusal);
  }
  const asked: Asked = { ...input, twin: ['input', input.value] };
  if (tool === undefined) return refused(base, asked, `There is no tool named ${base.toolName}.`, 'TOOL_UNKNOWN');
  return withChild(planning, tool, await validated(planning, tool, base, asked), asked);
}

/**
 * The same for params that a person gives a call of `tool`. What that person saw had been through the schema already, and nobody can tell
 * whether what is given is meant before it or after it: where that makes a difference, the params are refused.
 */
export async function describeParams(planning: Described, tool: Tool, given: unknown): Promise<CallContent> {
  const base = baseOf(planning, { toolName: tool.name, input: given } as ModelToolCall, tool);
  const input = storableJson(planning, given);
  if ('refusal' in input) return refused(base, { value: null, notes: [], twin: ['place', 0] }, input.refusal);
  const asked: Asked = { ...input, twin: ['input', input.value] };
  const once = await validated(planning, tool, base, asked);
  if (once.settled !== undefined || once.paramsDigest === paramsDigest(input.value)) return once;
  const twice = await validated(planning, tool, base, { ...asked, value: once.params });
  if (twice.settled === undefined && twice.paramsDigest === once.paramsDigest) return once;
  return refused(base, asked, `${CONVERTS}: ${storableText(JSON.stringify(once.params), 'params')?.value}`);
}

/** Why params of a person's are refused by a schema that does not leave alone what it made. */
const CONVERTS =
  'The schema of the tool converts what it is given, and would convert it again, so it cannot tell what these params mean. It would make of them';

/** Digest of params that a person gives, as they are; `null` where they cannot be stored. */
export function givenDigest(planning: Pick<Planning, 'limits'>, given: unknown): string | null {
  const input = storableJson(planning, given);
  return 'refusal' in input ? null : paramsDigest(input.value);
}

/** What a model asked for, as it is stored. `twin` equals that of a call that was refused for the same arguments. */
interface Asked {
  value: Json;
  notes: string[];
  twin: Json;
}

type Base = Omit<CallContent, 'params' | 'paramsDigest' | 'settled'>;

function baseOf({ limits }: Pick<Planning, 'limits'>, call: ModelToolCall, tool: Tool | undefined): Base {
  const { toolName: asked, providerCallId = null } = call;
  const name = storableText(asked, 'toolName');
  const toolName = [...(name?.value ?? '')].slice(0, MAX_NAME_CHARACTERS).join('') || 'unnamed';
  const callId = storableText(providerCallId, 'providerCallId')?.value ?? null;
  return {
    toolName,
    toolVersion: tool?.version ?? 0,
    effect: tool?.effect ?? 'nonRepeatable',
    repeatable: tool?.repeatable ?? false,
    providerCallId: callId,
    rawInput: null,
    timeoutMs: childOf(tool) === null ? (tool?.timeoutMs ?? limits.toolTimeoutMs) : null,
    // Noted is also what was cut, or is no text.
    normalised: [
      ...(toolName === asked ? [] : ['/toolName']),
      ...(callId === providerCallId ? [] : ['/providerCallId']),
    ],
  };
}

function refused(base: Base, asked: Asked, message: string, code = 'PARAMS_INVALID'): CallContent {
  const { value: params, notes, twin } = asked;
  return {
    ...base,
    params,
    paramsDigest: refusedDigest(twin),
    normalised: joined(base.normalised, notes),
    settled: { error: { code, message } },
  };
}

async function validated(planning: Described, tool: Tool, base: Base, asked: Asked): Promise<CallContent> {
  try {
    // A copy: some validators write their defaults into what they are given.
    const result = await validate(tool.inputSchema, structuredClone(asked.value));
    if (result.issues !== undefined) {
      const issues = storableText(result.issues, 'issues')?.value;
      return refused(base, asked, `The arguments do not fit the schema: ${issues}`);
    }
    const params = storableJson(planning, result.value);
    if ('refusal' in params) return refused(base, asked, params.refusal);
    const normalised = joined(base.normalised, [...asked.notes, ...params.notes]);
    const call = { ...base, params: params.value, paramsDigest: paramsDigest(params.value), normalised };
    return { ...call, ...guardsOf(planning, tool, call.params) };
  } catch (thrown) {
    const { message } = normaliseError(thrown, planning.limits);
    if (isTurnlockError(thrown, 'CLAIM_KEY_FAILED') || isTurnlockError(thrown, 'COST_FAILED')) {
      return refused(base, asked, message, thrown.code);
    }
    return refused(base, asked, `The validation threw: ${message}`);
  }
}

/** A call that another agent answers says which session it begins; one that cannot begin it fails. */
function withChild(planning: Planning, tool: Tool, content: CallContent, asked: Asked): CallContent {
  const child = childOf(tool);
  if (child === null || content.settled !== undefined) return content;
  try {
    return { ...content, child: describeChild(planning, child, content.params) };
  } catch (thrown) {
    const { message } = normaliseError(thrown, planning.limits);
    return refused(content, asked, message, isTurnlockError(thrown) ? thrown.code : 'PARAMS_INVALID');
  }
}

function joined(before: Normalised, notes: string[]): Normalised {
  const all = [...(before ?? []), ...notes];
  return all.length > 0 ? all : null;
}

const NO_PARAMS = 'value not accepted: params (found null, wanted params)';

/** The storable form of JSON that came from a model or a validator, or why there is none: `null` are no params, and no row holds it. */
function storableJson(
  { limits }: Pick<Planning, 'limits'>,
  input: unknown,
): { value: Json; notes: string[] } | { refusal: string; code: string } {
  try {
    const json = normaliseJson(input, { maxBytes: limits.maxParamsBytes, maxDepth: limits.maxDepth, name: 'params' });
    return json.value === null ? { refusal: NO_PARAMS, code: 'VALUE_INVALID' } : json;
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { refusal: error.message, code: error.code };
  }
}

/** The storable form of a short text that came from a model, cut where it is long; `null` for what is no text. */
export function storableText(text: unknown, name: string): { value: string; notes: string[] } | null {
  return typeof text === 'string' ? normaliseText(text, { maxBytes: MAX_GIVEN_BYTES, name }, 'truncate') : null;
}
