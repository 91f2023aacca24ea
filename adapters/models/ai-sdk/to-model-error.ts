import { isTurnlockError, TurnlockError } from '../../../errors.ts';
import { type ErrorFacts, factsOf } from './error-facts.ts';
import { isRetryable } from './is-retryable.ts';
import { redact } from './redact.ts';
import { requestIdOf } from './request-id.ts';
import { retryAfterMs } from './retry-after.ts';

/** Which call failed. */
interface FailedCall {
  modelId: string;
  provider: string;
  /** What the application sends and nobody may read. */
  secrets: readonly string[];
  /** Default MODEL_FAILED. */
  code?: 'MODEL_FAILED' | 'EMBEDDING_FAILED';
}

/**
 * What a call of a model threw, as MODEL_FAILED, or of one that embeds, as EMBEDDING_FAILED: retryable where another attempt may succeed.
 *
 * The SDK's errors hold the whole request, the answer's headers and the URL. None of that is kept: message and details name the model, the
 * status and the provider's own codes; the cause holds name, stack and the provider's words, without what may be a key.
 */
export function toModelError(
  thrown: unknown,
  { modelId, provider, secrets, code = 'MODEL_FAILED' }: FailedCall,
): TurnlockError {
  if (isTurnlockError(thrown)) return thrown;
  const facts = factsOf(thrown);
  const retryable = isRetryable(facts);
  const waitMs = retryAfterMs(facts.headers);
  const requestId = requestIdOf(facts.headers);
  const hint = hintFor(facts, { retryable, code });
  return new TurnlockError(code, {
    message: `${code === 'MODEL_FAILED' ? 'model' : 'embedding'} call failed: ${modelId} (found ${foundIn(facts, secrets)})`,
    retryable,
    ...(hint === undefined ? {} : { hint }),
    details: {
      provider,
      modelId,
      codes: facts.codes,
      ...(facts.status === undefined ? {} : { statusCode: facts.status }),
      ...(facts.networkCode === undefined ? {} : { networkCode: facts.networkCode }),
      ...(requestId === undefined ? {} : { requestId }),
      ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    },
    cause: withoutSecrets(thrown, facts, secrets),
  });
}

/** What happened, shortest first. What a provider says of a refused key often holds the key. */
function foundIn({ status, codes, name, message }: ErrorFacts, secrets: readonly string[]): string {
  const facts = [...(status === undefined ? [] : [`HTTP ${status}`]), ...codes];
  const what = facts.length > 0 ? facts.join(', ') : name;
  const words = status === 401 || status === 403 ? '' : redact(message, secrets);
  return words === '' ? what : `${what}: ${words}`;
}

function hintFor(
  { status, name }: ErrorFacts,
  { retryable, code }: { retryable: boolean; code: FailedCall['code'] },
): string | undefined {
  if (retryable) return undefined;
  if (status === 401 || status === 403 || name === 'AI_LoadAPIKeyError')
    return 'Check the key of the provider, and what it may do.';
  if (status === 404 || name === 'AI_NoSuchModelError')
    return 'Check the id of the model and the address of the provider.';
  if (code === 'EMBEDDING_FAILED') return 'The same request is refused again: change the model or its settings.';
  return 'The same request is refused again: change it, the model or its settings. session.retry() then goes on.';
}

/** A cause that can be printed whole. */
function withoutSecrets(thrown: unknown, { name, message }: ErrorFacts, secrets: readonly string[]): Error {
  const cause = new Error(redact(message, secrets));
  cause.name = name;
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  cause.stack = [`${name}: ${cause.message}`, ...frames].join('\n');
  return cause;
}
