import type { Environment } from '../environment.ts';
import { isTurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';

/** A provider that asks for more is asked again after this time all the same: a wrong header must not park a run for days. */
const MAX_RETRY_AFTER_MS = 10 * 60_000;

/**
 * Milliseconds until the next attempt of a model call: `modelBackoffMs`, doubled for each attempt before, half to one and a half times.
 * Where the model's error names `details.retryAfterMs`, no less than that, up to 10 minutes, plus a little, so that sessions which were
 * refused together do not come back together.
 */
export function modelRetryInMs(
  { environment, limits }: { environment: Pick<Environment, 'random'>; limits: Pick<Limits, 'modelBackoffMs'> },
  attempt: number,
  thrown: unknown,
): number {
  const backoffMs = limits.modelBackoffMs * 2 ** (attempt - 1) * (0.5 + environment.random());
  const askedMs = isTurnlockError(thrown) ? thrown.details?.retryAfterMs : undefined;
  if (typeof askedMs !== 'number' || !(askedMs > 0)) return Math.round(backoffMs);
  const spreadMs = limits.modelBackoffMs * environment.random();
  return Math.round(Math.max(backoffMs, Math.min(askedMs, MAX_RETRY_AFTER_MS) + spreadMs));
}
