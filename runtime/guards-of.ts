import type { Once, Tool } from '../adapters/tools/tool.contract.ts';
import { type ErrorCode, TurnlockError } from '../errors.ts';
import type { CallContent, Json, KeyedContent } from '../machines/event-content.ts';
import { claimDigest } from '../persistence/keys/claim-digest.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import type { Described } from './describe-call.ts';
import { forgetPromise } from './forget-promise.ts';
import type { NotReady } from './upgrade-params.ts';

type Guards = Pick<CallContent, 'once' | 'onRepeat' | 'costMicroMoney'>;

/**
 * What keeps a call of `tool` from being one too many: its business key, or what becomes of a repeat, and what it costs. The tool's
 * functions run here, outside any transaction, each with a copy of the params.
 *
 * @throws CLAIM_KEY_FAILED, COST_FAILED when the tool's function throws or gives something else.
 */
export function guardsOf(described: Described, tool: Tool, params: Json): Guards {
  const { once, onRepeat, cost } = tool;
  const guards: Guards = cost === null ? {} : { costMicroMoney: costOf(tool.name, cost, params) };
  if (once !== null) return { ...guards, once: keyOf(described, tool.name, once, params) };
  return onRepeat === 'run' ? guards : { ...guards, onRepeat };
}

/**
 * The business key that a call of `row` has by today's version of its tool, where that is another one than the key that it holds: calls that
 * were made meanwhile have keys of today. `null` where it stays, and for calls that have begun: what their attempts did, they did under their
 * key. A key that cannot be made is a problem of the upgrade's.
 */
export function keyToday(
  described: Described,
  tool: Tool,
  { attempt, toolVersion, claimDigest }: Pick<ExecutionRow, 'attempt' | 'toolVersion' | 'claimDigest'>,
  params: Json,
): KeyedContent | NotReady | null {
  if (attempt > 0 || tool.once === null || tool.version === toolVersion) return null;
  try {
    const key = keyOf(described, tool.name, tool.once, params);
    return key.digest === claimDigest ? null : key;
  } catch (thrown) {
    const { message } = normaliseError(thrown, described.limits);
    return { problem: { code: 'UPGRADE_FAILED', message } };
  }
}

/** What a value that is not there becomes in a template: one key for all that lack it. */
const NO_KEYS = ['undefined', 'null', 'NaN', '[object Object]', '[object Promise]'];

function keyOf({ session }: Described, tool: string, once: Once, params: Json): KeyedContent {
  const failed = failure('CLAIM_KEY_FAILED', 'business key', tool);
  const key = call(() => once.key(structuredClone(params)), failed);
  if (typeof key !== 'string') throw failed(`gave ${kindOf(key)}, wanted a text`);
  if (key.trim() === '') throw failed('gave a text that is empty or blank');
  if (NO_KEYS.includes(key)) throw failed(`gave ${JSON.stringify(key)}, which is what a missing value becomes as text`);
  const scope = once.per === 'tenant' ? { per: once.per } : { per: once.per, sessionId: session.sessionId };
  return { digest: claimDigest(scope, key), shareAcrossUsers: once.shareAcrossUsers };
}

function costOf(tool: string, cost: NonNullable<Tool['cost']>, params: Json): number {
  const failed = failure('COST_FAILED', 'cost', tool);
  const given = call(() => cost(structuredClone(params)), failed);
  if (Number.isSafeInteger(given) && (given as number) >= 0) return given as number;
  throw failed(`gave ${typeof given === 'number' ? given : kindOf(given)}, wanted a whole number from 0 on`);
}

type Failure = (how: string, cause?: unknown) => TurnlockError;

function failure(code: ErrorCode, what: string, tool: string): Failure {
  const happened = `The ${what} could not be made, so nothing was run: the function of ${tool}`;
  return (how, cause) => new TurnlockError(code, { message: `${happened} ${how}`, cause });
}

function call(make: () => unknown, failed: Failure): unknown {
  try {
    const made = make();
    forgetPromise(made); // it is none of both
    return made;
  } catch (cause) {
    throw failed(`threw: ${normaliseError(cause).message}`, cause);
  }
}
