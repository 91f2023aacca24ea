/** Told of what a hook of the host threw. */
export type OnFailed = (error: unknown) => void;

/** Calls `hook`; what it throws, at once or later, goes to `onFailed` and nowhere else. `null` where it threw. */
export function guarded<Result>(hook: () => Result, onFailed: OnFailed): Result | null {
  try {
    const result = hook();
    if (result instanceof Promise) result.catch(onFailed);
    return result;
  } catch (error) {
    onFailed(error);
    return null;
  }
}

/**
 * What `work` returns, called by `within` so that it runs in a context of its own; called once in any case, also where `within` throws or
 * forgets it.
 */
export function runWithin<Result>(
  within: (work: () => Result) => unknown,
  work: () => Result,
  onFailed: OnFailed,
): Result {
  let ran: { result: Result } | { thrown: unknown } | null = null;
  const once = (): Result => {
    if (ran === null) {
      try {
        ran = { result: work() };
      } catch (thrown) {
        ran = { thrown };
      }
    }
    if ('thrown' in ran) throw ran.thrown;
    return ran.result;
  };
  let returned: unknown;
  try {
    returned = within(once);
  } catch (error) {
    if (ran === null || !('thrown' in ran)) onFailed(error);
  }
  const result = once();
  if (returned instanceof Promise && returned !== result) {
    returned.catch(async (error: unknown) => {
      if (!(await isReasonOf(error, result))) onFailed(error);
    });
  }
  return result;
}

/** Whether `result` is a promise that rejects with `error`: then that is told to whoever waits for it. */
async function isReasonOf(error: unknown, result: unknown): Promise<boolean> {
  return Promise.resolve(result).then(
    () => false,
    (reason) => reason === error,
  );
}
