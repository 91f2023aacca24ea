import type { Once, Tool } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';
import type { CallContent, Json, KeyedContent } from '../machines/event-content.ts';
import { claimDigest } from '../persistence/keys/claim-digest.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import type { Described } from './describe-call.ts';

/**
 * What keeps a call of `tool` from being one too many: its business key, or what becomes of a repeat. The tool's functions run here,
 * outside any transaction, with a copy of the params.
 *
 * @throws CLAIM_KEY_FAILED when the tool's function throws or makes no key.
 */
export function guardsOf(described: Described, tool: Tool, params: Json): Pick<CallContent, 'once' | 'onRepeat'> {
  const { once, onRepeat } = tool;
  if (once !== null) return { once: keyOf(described, tool, once, params) };
  return onRepeat === 'run' ? {} : { onRepeat };
}

function keyOf({ session }: Described, { name }: Tool, once: Once, params: Json): KeyedContent {
  let key: unknown;
  try {
    key = once.key(structuredClone(params));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TurnlockError('CLAIM_KEY_FAILED', {
      message: `The business key could not be made, so nothing was run: the function of ${name} threw: ${why}`,
      cause,
    });
  }
  // A promise is no key: what it comes to must not end the process.
  if (key instanceof Promise) key.catch(() => undefined);
  if (typeof key !== 'string' || key === '') {
    const found = typeof key === 'string' ? 'an empty text' : kindOf(key);
    throw new TurnlockError('CLAIM_KEY_FAILED', {
      message: `The business key could not be made, so nothing was run: the function of ${name} gave ${found}, wanted a text.`,
    });
  }
  const scope = once.per === 'tenant' ? { per: once.per } : { per: once.per, sessionId: session.sessionId };
  return { digest: claimDigest(scope, key), shareAcrossUsers: once.shareAcrossUsers };
}
